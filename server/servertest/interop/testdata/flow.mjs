// The whole of registration, as a strict OAuth client sees it.
import assert from 'node:assert/strict';
import {
  BASE, RESOURCE, anonymously, challenged, control, insecure, keys, oauth, person, post, refused, step, thumbprint, verified, version, wait,
} from './setup.mjs';

const CLAIM = 'urn:example:agent-auth:grant-type:claim';
const JWT_BEARER = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
const ID_JAG = 'urn:ietf:params:oauth:token-type:id-jag';
const METADATA = `${BASE}/.well-known/oauth-protected-resource/api/`; // where a client that compares looks for RESOURCE (RFC 9728, 3.3)
const BOTH = 'analytics.read analytics.write';
const DANA = 'dana@example.com';

console.log(`# oauth4webapi ${version}`);

// Discovery

const resource = await step('the resource has metadata where RFC 9728 puts it', async () => {
  const id = new URL(RESOURCE);
  const doc = await oauth.processResourceDiscoveryResponse(id, await oauth.resourceDiscoveryRequest(id, insecure));
  assert.equal(doc.resource, RESOURCE);
  assert.deepEqual(doc.authorization_servers, [BASE]);
  assert.deepEqual(doc.scopes_supported, BOTH.split(' '));
  assert.deepEqual(doc.bearer_methods_supported, ['header']);
  return doc;
});

await step('the metadata is the same at its three addresses', async () => {
  const texts = await Promise.all(['', '/api', '/api/'].map(async (path) => {
    const r = await fetch(`${BASE}/.well-known/oauth-protected-resource${path}`, { redirect: 'manual' });
    assert.equal(r.status, 200);
    assert.match(r.headers.get('content-type'), /^application\/json/);
    return r.text();
  }));
  assert.equal(new Set(texts).size, 1);
});

const as = await step('the authorization server that it names has metadata', async () => {
  const issuer = new URL(resource.authorization_servers[0]);
  const r = await oauth.discoveryRequest(issuer, { ...insecure, algorithm: 'oauth2' });
  const doc = await oauth.processDiscoveryResponse(issuer, r);
  assert.equal(doc.issuer, resource.authorization_servers[0]); // to the byte, which is more than the library asks
  assert.deepEqual(doc.grant_types_supported, [JWT_BEARER, CLAIM]);
  assert.deepEqual(doc.response_types_supported, []);
  assert.deepEqual(doc.token_endpoint_auth_methods_supported, ['none']);
  assert.deepEqual(doc.revocation_endpoint_auth_methods_supported, ['none']);
  assert.deepEqual(doc.protected_resources, [RESOURCE]);
  for (const absent of ['authorization_endpoint', 'registration_endpoint', 'device_authorization_endpoint']) assert.ok(!(absent in doc), absent);
  const { identity_endpoint, claim_endpoint, events_endpoint, skill } = doc.agent_auth;
  for (const url of [doc.token_endpoint, doc.revocation_endpoint, doc.jwks_uri, identity_endpoint, claim_endpoint, events_endpoint, skill]) {
    assert.equal(new URL(url).origin, BASE);
  }
  return doc;
});
const { identity_endpoint: identity, claim_endpoint: claim } = as.agent_auth;

await step('the keys are public ES256 keys, named by their thumbprints', async () => {
  const set = await keys(as);
  assert.equal(set.length, 1);
  for (const k of set) {
    assert.deepEqual(Object.keys(k).sort(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']);
    assert.deepEqual([k.kty, k.crv, k.alg, k.use], ['EC', 'P-256', 'ES256', 'sig']);
    assert.equal(k.kid, thumbprint(k));
  }
});

// What every request goes through

const client = { client_id: 'interop' };
const none = oauth.None();

async function token(grant, parameters, authentication = none) {
  const r = await oauth.genericTokenEndpointRequest(as, client, authentication, grant, parameters, insecure);
  const headers = r.headers;
  const got = await oauth.processGenericTokenEndpointResponse(as, client, r);
  assert.equal(headers.get('cache-control'), 'no-store');
  assert.equal(headers.get('pragma'), 'no-cache');
  assert.equal(got.token_type, 'bearer'); // the library lowers it
  assert.equal(got.expires_in, 3600);
  assert.match(got.access_token, /^at_/);
  assert.equal(got.refresh_token, undefined);
  return got;
}
const exchange = (assertion, more) => token(JWT_BEARER, { assertion, resource: RESOURCE, ...more });
const poll = (claim_token) => token(CLAIM, { claim_token });

async function revoke(value, more) {
  const r = await oauth.revocationRequest(as, client, none, value, { ...insecure, ...more });
  assert.equal(await oauth.processRevocationResponse(r.clone()), undefined);
  assert.equal(await r.text(), '');
}

const WORKSPACE = new URL('agent/workspace', RESOURCE);
const workspace = (access, options) => oauth.protectedResourceRequest(access, 'GET', WORKSPACE, undefined, null, { ...insecure, ...options });
const send = (url, body, access = 'none', options = {}) => oauth.protectedResourceRequest(
  access, 'POST', new URL(url), new Headers({ 'content-type': 'application/json' }), JSON.stringify(body), { ...insecure, ...options },
);
const unsigned = { [oauth.customFetch]: anonymously };

// Challenges

await step('without a token the challenge names the metadata and no error', async () => {
  const { challenges, body } = await challenged(workspace('dropped', unsigned), 401, 'bearer');
  assert.deepEqual(challenges, [{ resource_metadata: METADATA }]);
  assert.equal(body.error, 'unauthorized');
});

await step('the metadata that the challenge names is that of the resource', async () => {
  const doc = await oauth.processResourceDiscoveryResponse(new URL(RESOURCE), await fetch(METADATA, { redirect: 'manual' }));
  assert.deepEqual(doc, resource);
});

const dead = async (access) => {
  const { challenges: [c], body } = await challenged(workspace(access), 401, 'bearer');
  assert.equal(c.resource_metadata, METADATA);
  assert.equal(c.error, 'invalid_token');
  assert.equal(c.error_description, body.error_description);
  assert.equal(body.error, 'invalid_token');
};
await step('a token that is none of ours is an invalid_token', () => dead('at_nothing'));

// Anonymous registration

const agent = await step('an agent registers by itself', async () => {
  const got = await post(identity, { type: 'anonymous' });
  assert.equal(got.registration_type, 'anonymous');
  assert.equal(got.claim_url, claim);
  assert.deepEqual(got.pre_claim_scopes, ['analytics.write']);
  return got;
});

const before = await step('its assertion verifies with the published keys', async () => {
  const c = await verified(as, agent.identity_assertion);
  assert.equal(c.sub, agent.registration_id);
  assert.equal(c.registration_type, 'anonymous');
  assert.equal(c.email, undefined);
  assert.equal(c.email_verified, undefined);
  assert.equal(new Date(agent.assertion_expires).getTime(), c.exp * 1000);
  return c;
});

const early = await step('the assertion buys a token that may write', async () => {
  const got = await exchange(agent.identity_assertion);
  assert.equal(got.scope, 'analytics.write');
  return got.access_token;
});

await step('the resource may be left out, or named without its slash', async () => {
  await token(JWT_BEARER, { assertion: agent.identity_assertion });
  await exchange(agent.identity_assertion, { resource: `${BASE}/api` });
});

await step('another resource is an invalid_target', () =>
  refused(exchange(agent.identity_assertion, { resource: 'https://other.example/' }), 'invalid_target'));

await step('the scope may be asked for, but not more of it', async () => {
  assert.equal((await exchange(agent.identity_assertion, { scope: 'analytics.write' })).scope, 'analytics.write');
  await refused(exchange(agent.identity_assertion, { scope: BOTH }), 'invalid_scope');
});

await step('the token makes a collector key', async () => {
  const r = await send(`${RESOURCE}agent/keys`, { kind: 'secret', label: 'interop' }, early);
  assert.equal(r.status, 201);
  assert.ok((await r.json()).key);
});

await step('the token may not read: insufficient_scope', async () => {
  const { challenges: [c], body } = await challenged(workspace(early), 403, 'bearer');
  assert.equal(c.error, 'insufficient_scope');
  assert.equal(c.scope, 'analytics.read');
  assert.equal(c.resource_metadata, METADATA);
  assert.equal(body.error, 'insufficient_scope');
  assert.equal(body.scope, 'analytics.read');
});

// Claim

await step('a poll before the claim is asked for is pending', () => refused(poll(agent.claim_token), 'authorization_pending'));

const asked = await step('the agent asks for a code', async () => {
  const got = await post(claim, { claim_token: agent.claim_token, email: DANA });
  assert.deepEqual(got.claim, got.claim_attempt);
  assert.match(got.claim.user_code, /^[0-9]{6}$/);
  assert.equal(new URL(got.claim.verification_uri).origin, BASE);
  assert.deepEqual([got.claim.expires_in, got.claim.interval], [600, 5]);
  return got.claim;
});

await step('the first poll is pending', () => refused(poll(agent.claim_token), 'authorization_pending'));
await step('one right after it is too early: slow_down', () => refused(poll(agent.claim_token), 'slow_down'));
await step('after the longer interval it is pending again', async () => {
  await wait(10);
  await refused(poll(agent.claim_token), 'authorization_pending');
});

const linked = await step('after the person types the code, a poll hands tokens over at once', async () => {
  await person(DANA, asked);
  const got = await poll(agent.claim_token);
  assert.equal(got.scope, BOTH);
  assert.equal(got.registration_id, agent.registration_id);
  assert.deepEqual(got.workspace, agent.workspace);
  return got;
});

await step('the new assertion verifies, is of a later generation and has the address', async () => {
  const c = await verified(as, linked.identity_assertion);
  assert.equal(c.sub, agent.registration_id);
  assert.equal(c.gen, before.gen + 1);
  assert.equal(c.email, DANA);
  assert.equal(c.email_verified, true);
  assert.notEqual(c.jti, before.jti);
});

await step('its token reads the workspace', async () => {
  const r = await workspace(linked.access_token);
  assert.equal(r.status, 200);
  const got = await r.json();
  assert.equal(got.workspace.slug, agent.workspace.slug);
  assert.equal(got.keys.length, 1);
  assert.equal(got.keys[0].key, undefined);
});

await step('the token from before the claim is void', () => dead(early));
await step('the assertion from before the claim is void', () => refused(exchange(agent.identity_assertion), 'invalid_grant'));
await step('the new assertion buys both scopes', async () => assert.equal((await exchange(linked.identity_assertion)).scope, BOTH));
await step('a used claim token is void when the grace is over', async () => {
  await wait(180);
  await refused(poll(agent.claim_token), 'invalid_grant');
});

// Revocation

await step('a revoked token is void, its assertion is not', async () => {
  await workspace(linked.access_token);
  await revoke(linked.access_token);
  await dead(linked.access_token);
  const next = await exchange(linked.identity_assertion);
  assert.equal((await workspace(next.access_token)).status, 200);
});

await step('revoking again, or what never was, is no error', async () => {
  await revoke(linked.access_token, { additionalParameters: { token_type_hint: 'access_token' } });
  await revoke('at_nothing', { additionalParameters: { token_type_hint: 'refresh_token' } });
});

await step('an assertion cannot be revoked so: unsupported_token_type', () =>
  refused(revoke(linked.identity_assertion), 'unsupported_token_type'));

// Errors of the token endpoint

await step('a grant that is not offered is an unsupported_grant_type', () => refused(token('client_credentials', {}), 'unsupported_grant_type'));
await step('a grant without its parameter is an invalid_request', () => refused(token(JWT_BEARER, {}), 'invalid_request'));
await step('an assertion that is none is an invalid_grant', () => refused(exchange('a.b.c'), 'invalid_grant'));
await step('a claim token that is none is an expired_token', () => refused(poll('clm_nothing'), 'expired_token'));

await step('a client that authenticates is answered 401 and invalid_client', async () => {
  const r = await oauth.genericTokenEndpointRequest(
    as, client, oauth.ClientSecretBasic('secret'), JWT_BEARER, { assertion: linked.identity_assertion }, insecure,
  );
  assert.equal(r.status, 401);
  assert.equal((await r.json()).error, 'invalid_client');
});

await step('a claim token that is none is answered with a challenge at the claim endpoint', async () => {
  const { challenges, body } = await challenged(send(claim, { claim_token: 'clm_nothing', email: DANA }, 'dropped', unsigned), 401, 'bearer');
  assert.deepEqual(challenges, [{ resource_metadata: METADATA }]);
  assert.equal(body.error, 'invalid_claim_token');
});

// Registration for an address

const hinted = (login_hint) => post(identity, { type: 'service_auth', login_hint });

await step('an agent that names an address waits for its owner', async () => {
  const got = await hinted('eve@example.com');
  assert.equal(got.identity_assertion, undefined);
  await refused(poll(got.claim_token), 'authorization_pending');
  await person('eve@example.com', got.claim);
  const tokens = await poll(got.claim_token);
  assert.equal(tokens.scope, BOTH);
  const c = await verified(as, tokens.identity_assertion);
  assert.deepEqual([c.sub, c.registration_type, c.email], [got.registration_id, 'service_auth', 'eve@example.com']);
  assert.equal((await workspace(tokens.access_token)).status, 200);
});

await step('a person who denies ends it: access_denied', async () => {
  const got = await hinted('finn@example.com');
  await person('finn@example.com', got.claim, 'deny');
  await refused(poll(got.claim_token), 'access_denied');
});

await step('a code that lapsed is an expired_token, and a fresh one works', async () => {
  const got = await hinted('gail@example.com');
  await wait(601);
  await refused(poll(got.claim_token), 'expired_token');
  const fresh = await post(claim, { claim_token: got.claim_token, email: 'gail@example.com' });
  await refused(poll(got.claim_token), 'authorization_pending');
  await person('gail@example.com', fresh.claim);
  assert.equal((await poll(got.claim_token)).scope, BOTH);
});

// Registration on an issuer's word

const present = async (args) => ({ type: 'identity_assertion', assertion_type: ID_JAG, assertion: (await control('assertion', { aud: RESOURCE, ...args })).assertion });

await step('an issuer vouches for an address that is new here', async () => {
  const got = await post(identity, await present({ sub: 'hugo', email: 'hugo@example.com' }));
  const c = await verified(as, got.identity_assertion);
  assert.deepEqual([c.sub, c.registration_type, c.email], [got.registration_id, 'id_jag', 'hugo@example.com']);
  const tokens = await exchange(got.identity_assertion);
  assert.equal(tokens.scope, BOTH);
  assert.equal((await workspace(tokens.access_token)).status, 200);
});

await step('an issuer vouches for a known address: two challenges, and the owner confirms', async () => {
  const { challenges: [bearer, agentAuth], body } = await challenged(
    send(identity, await present({ sub: 'dana', email: DANA }), 'dropped', unsigned), 401, 'bearer', 'agentauth',
  );
  assert.deepEqual(bearer, { resource_metadata: METADATA });
  assert.equal(agentAuth.error, 'interaction_required');
  assert.equal(agentAuth.error_description, body.error_description);
  assert.equal(body.error, 'interaction_required');
  await refused(poll(body.claim_token), 'authorization_pending');
  await person(DANA, body.claim);
  const tokens = await poll(body.claim_token);
  const c = await verified(as, tokens.identity_assertion);
  assert.deepEqual([c.sub, c.registration_type, c.email], [body.registration_id, 'id_jag', DANA]);
});

await step('a sign-in at the issuer that is too old is a login_required', async () => {
  const { challenges: [bearer, agentAuth], body } = await challenged(
    send(identity, await present({ sub: 'hugo', email: 'hugo@example.com', auth_age: 4000 }), 'dropped', unsigned), 401, 'bearer', 'agentauth',
  );
  assert.deepEqual(bearer, { resource_metadata: METADATA });
  assert.equal(agentAuth.error, 'login_required');
  assert.equal(agentAuth.max_age, '3600');
  assert.equal(body.max_age, 3600);
});

// Rotation

await step('a new key is published before it signs, and the old one stays', async () => {
  await control('rotate', {});
  const set = await keys(as);
  assert.equal(set.length, 2);
  for (const k of set) assert.equal(k.kid, thumbprint(k));
  assert.equal((await verified(as, (await post(identity, { type: 'anonymous' })).identity_assertion)).kid, before.kid);
  await wait(601);
  const next = await post(identity, { type: 'anonymous' });
  assert.notEqual((await verified(as, next.identity_assertion)).kid, before.kid);
  await exchange(next.identity_assertion);
  await verified(as, linked.identity_assertion);
  await exchange(linked.identity_assertion);
});
