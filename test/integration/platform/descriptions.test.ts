import asyncApiSpecs from '@asyncapi/specs';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { wavFile } from '../../peers/wav-file.ts';
import { type Json, startTestPlatform, type TestPlatform, TestSocket } from './setup.ts';
import { sayTones } from './tone-engines.ts';

/** Paths of the documents, with the methods they name. */
const served = {
  authUrl: ['POST /api/auth/token', 'GET /health', 'GET /.well-known/jwks.json'],
  asrUrl: [
    'GET /health',
    'GET /languages',
    'POST /v1/audio/transcriptions',
    'POST /v1/speakers/register',
    'DELETE /v1/speakers/delete',
  ],
  asrAltUrl: [
    'GET /health',
    'GET /languages',
    'POST /v1/audio/transcriptions',
    'POST /v1/speakers/register',
    'DELETE /v1/speakers/delete',
    'GET /v1/speakers/list',
    'POST /v1/speakers/identify',
  ],
  medUrl: ['GET /health', 'POST /transcribe'],
  ttsUrl: ['GET /health', 'POST /v1/audio/speech', 'POST /tts', 'POST /'],
} as const;
type ServiceUrl = keyof typeof served;
const services = Object.keys(served) as ServiceUrl[];

type Described = {
  readonly paths: Record<string, Record<string, { responses: Record<string, { content: Record<string, object> }> }>>;
};

/** Everything that stands under `schema`: OpenAPI's own schema does not look into those. */
function schemasIn(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, part]: [string, unknown]) =>
    key === 'schema' && typeof part === 'object' && part !== null ? [part] : schemasIn(part),
  );
}

const pointer = (...parts: string[]): string =>
  parts.map((part) => `/${encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('');

describe('the descriptions of the services', () => {
  let test: TestPlatform;
  const schemas = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(schemas);
  const openApis = new Map<ServiceUrl, Described>();

  beforeAll(async () => {
    test = await startTestPlatform();
    for (const service of services) {
      const document = (await (await fetch(`${test.platform[service]}/openapi.json`)).json()) as Described;
      openApis.set(service, document);
      schemas.addSchema(document, `https://described/${service}`);
    }
  });
  afterAll(() => test[Symbol.asyncDispose]());

  /** Asks, and holds the answer against what is described for its status. */
  async function asked(service: ServiceUrl, method: string, path: string, init: RequestInit = {}): Promise<Response> {
    const response = await fetch(`${test.platform[service]}${path}`, { method, ...init });
    const bare = path.split('?', 1)[0]!;
    const described = openApis.get(service)?.paths[bare]?.[method.toLowerCase()]?.responses[response.status];
    expect(described, `${method} ${path} ${response.status} of ${service}`).toBeDefined();
    const type = (response.headers.get('content-type') ?? '').split(';', 1)[0]!;
    expect(Object.keys(described!.content)).toContain(type);
    expect(response.headers.get('x-request-id')).not.toBeNull();
    if (type !== 'application/json') return response;
    const place = ['paths', bare, method.toLowerCase(), 'responses', String(response.status), 'content', type, 'schema'];
    const fits = schemas.validate({ $ref: `https://described/${service}#${pointer(...place)}` }, await response.clone().json());
    expect(fits, JSON.stringify(schemas.errors)).toBe(true);
    return response;
  }

  // Compiled once: it costs more than all that it looks at.
  const validator = new Validator();

  it.each(services)('are sound OpenAPI, in which every reference is resolved: %s', async (service) => {
    const result = await validator.validate(structuredClone(openApis.get(service)!));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
    expect(validator.version).toBe('3.1');
    expect(JSON.stringify(validator.resolveRefs())).not.toContain('#/components');
    const found = schemasIn(openApis.get(service));
    expect(found.length).toBeGreaterThan(2);
    for (const schema of found) expect(schemas.validateSchema(schema), JSON.stringify(schema)).toBe(true);
  });

  it.each(services)('name every path and method that is served, and no other: %s', async (service) => {
    const { paths } = openApis.get(service)!;
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.toSorted()).toEqual([...served[service]].toSorted());
    for (const path of Object.keys(paths)) {
      const response = await fetch(`${test.platform[service]}${path}`, { method: 'PATCH' });
      const allowed = response.headers
        .get('allow')
        ?.split(', ')
        .filter((method) => method !== 'HEAD');
      expect(allowed?.toSorted()).toEqual(
        Object.keys(paths[path]!)
          .map((method) => method.toUpperCase())
          .toSorted(),
      );
    }
  });

  it('name each of its operations once', () => {
    for (const document of openApis.values()) {
      const ids = JSON.stringify(document).match(/"operationId":"[^"]+"/g) ?? [];
      expect(new Set(ids).size).toBe(ids.length);
    }
  });

  it('fit what the token service answers', async () => {
    const { apiKey } = test.platform;
    await asked('authUrl', 'GET', '/health');
    await asked('authUrl', 'GET', '/.well-known/jwks.json');
    const mint = async (query: string, headers: Record<string, string>) =>
      (await asked('authUrl', 'POST', `/api/auth/token${query}`, { headers })).status;
    expect(await mint('?expires_in=99999', { 'api-key': apiKey })).toBe(200);
    expect(await mint('?expires_in=x', { 'api-key': apiKey })).toBe(400);
    expect(await mint('', { 'api-key': 'nobody' })).toBe(403);
  });

  const form = (fields: Record<string, string>, words: readonly ('alpha' | 'bravo')[] = ['alpha', 'bravo']): FormData => {
    const body = new FormData();
    if (words.length > 0) body.set('file', new Blob([Uint8Array.from(wavFile(sayTones(words, 16_000), 16_000))]), 'words.wav');
    for (const [name, value] of Object.entries(fields)) body.set(name, value);
    return body;
  };
  const everything = {
    response_format: 'verbose_json',
    num_speakers: '2',
    speaker_id: 'true',
    emotion: 'true',
    nlp_analysis: 'true',
    enable_keyterm_normalization: 'true',
    hash_keywords: '["bravo"]',
  };

  it.each(['asrUrl', 'asrAltUrl'] as const)('fit what recognition answers: %s', async (service) => {
    const credential = service === 'asrUrl' ? await test.token() : test.platform.apiKey;
    const headers = { authorization: `Bearer ${credential}` };
    const status = async (body: FormData, method = 'POST', path = '/v1/audio/transcriptions') =>
      (await asked(service, method, path, { headers, body })).status;
    await asked(service, 'GET', '/health');
    await asked(service, 'GET', '/languages', { headers });
    expect(await status(form({}))).toBe(200);
    expect(await status(form({ emotion: 'true' }))).toBe(200);
    expect(await status(form({ response_format: 'verbose_json' }))).toBe(200);
    expect(await status(form(everything))).toBe(200);
    expect(await status(form({}, []))).toBe(400);
    expect(await status(form({ emotion: 'perhaps', num_speakers: 'two' }))).toBe(422);
    const noAudio = new FormData();
    noAudio.set('file', new Blob(['words']), 'words.txt');
    expect(await status(noAudio)).toBe(415);
    expect(await status(form({ name: 'nobody' }, []), 'DELETE', '/v1/speakers/delete')).toBe(404);
    expect((await asked(service, 'POST', '/v1/audio/transcriptions', { body: form({}) })).status).toBe(401);
  });

  it('fit what is answered of speakers', async () => {
    const headers = { authorization: `Bearer ${test.platform.apiKey}` };
    const clip = { name: 'Asha', project: 'demo' };
    const status = async (method: string, path: string, body?: FormData) =>
      (await asked('asrAltUrl', method, path, body === undefined ? { headers } : { headers, body })).status;
    expect(await status('POST', '/v1/speakers/register', form(clip))).toBe(200);
    expect(await status('GET', '/v1/speakers/list?project=demo')).toBe(200);
    expect(await status('POST', '/v1/speakers/identify', form({ project: 'demo' }))).toBe(200);
    expect(await status('DELETE', '/v1/speakers/delete', form(clip, []))).toBe(200);
  });

  it('fit what medical transcription answers', async () => {
    const headers = { 'x-api-key': test.platform.apiKey };
    await asked('medUrl', 'GET', '/health');
    expect((await asked('medUrl', 'POST', '/transcribe', { headers, body: form({ language_code: 'med-en' }) })).status).toBe(200);
    const diarized = form({ language_code: 'med-en', enable_diarization: 'true' });
    expect((await asked('medUrl', 'POST', '/transcribe', { headers, body: diarized })).status).toBe(200);
    expect((await asked('medUrl', 'POST', '/transcribe', { body: form({}) })).status).toBe(401);
  });

  const speech = { model: 'zero-indic', input: 'Hello', voice: 'Rajesh' };

  it('fit what synthesis answers', async () => {
    const headers = { authorization: `Bearer ${await test.token()}`, 'content-type': 'application/json' };
    const speak = async (body: object, path = '/v1/audio/speech') =>
      (await asked('ttsUrl', 'POST', path, { headers, body: JSON.stringify(body) })).status;
    await asked('ttsUrl', 'GET', '/health');
    for (const format of ['mulaw', 'wav']) expect(await speak({ ...speech, response_format: format })).toBe(200);
    expect(await speak(speech, '/tts')).toBe(200);
    expect(await speak(speech, '/')).toBe(200);
    expect(await speak({ ...speech, speed: 9 })).toBe(400);
    expect(await speak({ ...speech, voice: 'Nobody' })).toBe(422);
  });

  it('say of a synthesis what is taken and what is not', () => {
    const place = pointer('paths', '/tts', 'post', 'requestBody', 'content', 'application/json', 'schema');
    const takes = (body: object): boolean => schemas.validate({ $ref: `https://described/ttsUrl#${place}` }, body);
    expect(takes(speech)).toBe(true);
    expect(takes({ model: 'zero-indic', target_text: 'Hello', speaker_id: 'Rajesh', speed: 4, quality: 'high' })).toBe(true);
    for (const wrong of [{ speed: 5 }, { model: 'tts-1' }, { quality: 'best' }, { response_format: 'opus' }, { input: '' }]) {
      expect(takes({ ...speech, ...wrong }), JSON.stringify(wrong)).toBe(false);
    }
    expect(takes({ model: 'zero-indic', input: 'Hello' })).toBe(false);
  });

  const asyncApi: object = asyncApiSpecs.schemasWithoutId['3.0.0'];
  const isAsyncApi = new Ajv({ strict: false, validateFormats: false }).compile(asyncApi);

  /** The schema of each message that the server may send, by its type; the document itself is sound AsyncAPI. */
  async function socketMessages(service: 'asrUrl' | 'asrAltUrl' | 'ttsUrl'): Promise<(event: Json) => void> {
    const document = (await (await fetch(`${test.platform[service]}/asyncapi.json`)).json()) as {
      servers: { here: { host: string } };
      components: { messages: Record<string, { payload: object }> };
    };
    expect(isAsyncApi(document), JSON.stringify(isAsyncApi.errors)).toBe(true);
    expect(`http://${document.servers.here.host}`).toBe(test.platform[service]);
    const { messages } = document.components;
    return (event) => {
      const name = String(event['type']).startsWith('speech_') ? 'speech' : String(event['type']);
      expect(messages[name], `an event ${name}`).toBeDefined();
      expect(schemas.validate(messages[name]!.payload, event), `${JSON.stringify(event)} ${schemas.errorsText()}`).toBe(true);
    };
  }

  it('fit what realtime recognition sends', async () => {
    const fits = await socketMessages('asrUrl');
    await using socket = await TestSocket.ready(test, { diarize: true, num_speakers: 2, codeswitch: true });
    socket.pcm(sayTones(['alpha'], 8000));
    socket.text('commit');
    await socket.until(() => socket.of('final_refined').length > 0);
    socket.text('stop');
    await socket.untilClosed();
    socket.events.forEach(fits);
    expect(new Set(socket.events.map(({ type }) => type))).toEqual(
      new Set(['ready', 'partial', 'final', 'final_refined', 'error']),
    );
  });

  it('fit what Variant B sends', async () => {
    const fits = await socketMessages('asrAltUrl');
    const headers = { authorization: `Bearer ${test.platform.apiKey}` };
    await using socket = await TestSocket.open(`${test.platform.asrAltUrl}/ws`, headers);
    socket.json({ language: 'en', sample_rate: 8000 });
    await socket.until(() => socket.of('ready').length === 1);
    socket.pcm(sayTones(['alpha'], 8000));
    socket.text('END');
    await socket.untilClosed();
    await using stranger = await TestSocket.open(`${test.platform.asrAltUrl}/ws`);
    stranger.json({ language: 'en' });
    await stranger.untilClosed();
    [...socket.events, ...stranger.events].forEach(fits);
    expect(socket.of('final_segment')).toHaveLength(1);
    expect(stranger.of('error')).toHaveLength(1);
  });

  it('fit what realtime synthesis sends', async () => {
    const fits = await socketMessages('ttsUrl');
    const headers = { authorization: `Bearer ${await test.token()}` };
    await using socket = await TestSocket.open(`${test.platform.ttsUrl}/v1/realtime`, headers);
    socket.json(speech);
    await socket.until(() => socket.of('completion').length === 1);
    socket.json({ ...speech, speed: 9 });
    await socket.untilClosed();
    socket.events.forEach(fits);
    expect(new Set(socket.events.map(({ type }) => type))).toEqual(new Set(['chunk', 'completion', 'error']));
  });
});
