// A client of the eval API: its types are all from the description of the API.
import createClient, { type FetchOptions } from "openapi-fetch";
import type { ErrorResponse, FilterKeys, HttpMethod, PathsWithMethod, RequiredKeysOf, ResponseObjectMap } from "openapi-typescript-helpers";
import type { components, paths } from "./api.js";

export type EvalInput = components["schemas"]["EvalInput"];
export type RunEvent = components["schemas"]["RunEvent"];

// openapi-fetch takes unknown properties in what is sent. Here they do not compile: the
// path alone decides what goes with it.
type Args<T> = RequiredKeysOf<FetchOptions<T>> extends never ? [init?: FetchOptions<T>] : [init: FetchOptions<T>];
type Success = 200 | 201 | 202;
type JSONOf<R> = { [S in keyof R & Success]: R[S] extends { content: { "application/json": infer J } } ? J : never }[keyof R & Success];
type FailureOf<R> = R extends Record<number, unknown> ? ErrorResponse<R, "application/json"> : never;
type Answer<T> =
  | { data: JSONOf<ResponseObjectMap<T>>; error?: never; response: Response }
  | { data?: never; error: FailureOf<ResponseObjectMap<T>>; response: Response };
type Call<M extends HttpMethod> = <P extends PathsWithMethod<paths, M>>(
  path: P, ...args: Args<FilterKeys<paths[P], M>>
) => Promise<Answer<FilterKeys<paths[P], M>>>;
type Client = { GET: Call<"get">; POST: Call<"post">; PUT: Call<"put">; DELETE: Call<"delete">; PATCH: Call<"patch"> };

export const connect = (baseUrl: string, key: string): Client =>
  createClient<paths>({ baseUrl, headers: { Authorization: `Bearer ${key}` } }) as unknown as Client;

// events reads a stream of server-sent events until it ends.
export async function* events(stream: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<{ id: number; event: RunEvent }> {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + text).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const field = (name: string) => block.split("\n").find((l) => l.startsWith(name + ": "))?.slice(name.length + 2);
      const data = field("data");
      if (data !== undefined) yield { id: Number(field("id")), event: JSON.parse(data) as RunEvent };
    }
  }
}
