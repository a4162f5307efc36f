// What the steps stand on: the library, the server's address, and the hands of
// the Go test (its clock, its person, its identity provider).
import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = join(process.env.FIRSTPICK_NPM, 'node_modules', 'oauth4webapi');
const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
export const version = manifest.version;
export const oauth = await import(pathToFileURL(join(folder, manifest.exports['.'].default)));

export const BASE = process.env.BASE;
export const RESOURCE = `${BASE}/api/`;

// The server under test is on the loopback without TLS. No other check is off.
assert.equal(new URL(BASE).hostname, '127.0.0.1');
export const insecure = { [oauth.allowInsecureRequests]: true };

let done = 0;

// step runs one step and prints its line; the first that fails ends the run.
export async function step(name, run) {
  try {
    const result = await run();
    done++;
    console.log(`ok ${done} ${name}`);
    return result;
  } catch (err) {
    console.log(`not ok ${done + 1} ${name}`);
    console.log(err);
    process.exit(1);
  }
}

// control asks the Go test for something.
export async function control(what, args) {
  const r = await fetch(`${process.env.CONTROL}/${what}`, { method: 'POST', body: JSON.stringify(args) });
  assert.equal(r.status, 200, `${what}: ${r.status}`);
  return r.json();
}
export const wait = (seconds) => control('wait', { seconds });

// person lets the owner of the address open the link and type the code.
export const person = (email, claim, action = 'authorize') =>
  control('person', { email, action, user_code: claim.user_code, verification_uri: claim.verification_uri });

// post sends JSON to an endpoint that is not OAuth.
export async function post(url, body) {
  const r = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  assert.equal(r.status, 200, `${url}: ${r.status} ${await r.clone().text()}`);
  assert.equal(r.headers.get('cache-control'), 'no-store');
  return r.json();
}

// anonymously is a fetch for the library that drops the credential it adds.
export const anonymously = (url, init) => {
  const headers = new Headers(init.headers);
  headers.delete('authorization');
  return fetch(url, { ...init, headers });
};

// challenged expects that a request is answered with these challenges.
export async function challenged(promise, status, ...schemes) {
  const err = await promise.then(() => assert.fail('no challenge'), (e) => e);
  assert.ok(err instanceof oauth.WWWAuthenticateChallengeError, String(err.stack));
  assert.equal(err.status, status);
  assert.deepEqual(err.cause.map((c) => c.scheme), schemes);
  for (const c of err.cause) assert.equal(c.token68, undefined);
  return { challenges: err.cause.map((c) => c.parameters), body: await err.response.json() };
}

// refused expects that a request is answered with an OAuth error body.
export async function refused(promise, error) {
  const err = await promise.then(() => assert.fail(`no ${error}`), (e) => e);
  assert.ok(err instanceof oauth.ResponseBodyError, String(err.stack));
  assert.equal(err.error, error);
  assert.equal(err.status, 400);
  assert.match(err.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/); // RFC 6749, 5.2
  assert.equal(err.response.headers.get('cache-control'), 'no-store');
  return err;
}

// verified checks an identity assertion against the published keys and returns
// its payload.
export async function verified(as, assertion) {
  const [head, body, signature] = assertion.split('.');
  const parse = (part) => JSON.parse(Buffer.from(part, 'base64url').toString());
  const { alg, typ, kid, ...rest } = parse(head);
  assert.deepEqual([alg, typ, rest], ['ES256', 'oauth-id-jag+jwt', {}]);
  const jwk = (await keys(as)).find((k) => k.kid === kid);
  assert.ok(jwk, `no key ${kid} is published`);
  const key = crypto.createPublicKey({ key: jwk, format: 'jwk' });
  const data = Buffer.from(`${head}.${body}`);
  const sig = Buffer.from(signature, 'base64url');
  assert.equal(sig.length, 64);
  assert.ok(crypto.verify('sha256', data, { key, dsaEncoding: 'ieee-p1363' }, sig), 'the signature is wrong');
  const claims = parse(body);
  assert.equal(claims.iss, as.issuer);
  assert.equal(typeof claims.aud, 'string');
  assert.equal(claims.aud, as.issuer);
  assert.equal(typeof claims.jti, 'string');
  assert.ok(Number.isInteger(claims.iat) && Number.isInteger(claims.exp) && claims.exp > claims.iat);
  assert.ok(Number.isInteger(claims.gen));
  return { ...claims, kid };
}

// keys fetches the key set anew.
export async function keys(as) {
  const r = await fetch(as.jwks_uri);
  assert.equal(r.status, 200);
  assert.match(r.headers.get('content-type'), /^application\/(jwk-set\+)?json/);
  return (await r.json()).keys;
}

// thumbprint is the id of a key (RFC 7638).
export const thumbprint = ({ crv, kty, x, y }) =>
  crypto.createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
