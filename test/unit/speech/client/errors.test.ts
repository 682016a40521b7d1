import { describe, expect, it, test } from 'vitest';
import {
  errorMessage,
  errorOfAnswer,
  SpeechAuthError,
  SpeechBusyError,
  SpeechRequestError,
  SpeechUnavailableError,
} from '../../../../src/speech/client/errors.ts';

describe('errors of the speech platform', () => {
  test.each([
    { note: 'detail as a sentence', body: '{"detail":"bad key"}', message: 'bad key' },
    {
      note: 'detail as a list',
      body: '{"detail":[{"loc":["body","num_speakers"],"msg":"not a number","type":"int"},{"msg":"second"}]}',
      message: 'body.num_speakers: not a number; second',
    },
    {
      note: 'the envelope of Variant B',
      body: '{"success":false,"error":{"code":"authentication_error","message":"no"}}',
      message: 'no',
    },
    { note: 'error as a sentence', body: '{"error":"boom"}', message: 'boom' },
    {
      note: 'error as an object',
      body: '{"error":{"message":"slow down","type":"x","code":null,"param":null}}',
      message: 'slow down',
    },
    { note: 'a bare message', body: '{"message":"hello"}', message: 'hello' },
    { note: 'an odd detail beside a message', body: '{"detail":{"a":1},"message":"hello"}', message: 'hello' },
    { note: 'null fields', body: '{"detail":null,"error":null,"message":"hello"}', message: 'hello' },
    { note: 'a JSON string', body: '"plain"', message: 'plain' },
    {
      note: 'a page of a proxy',
      body: '<html><style>p{}</style><h1>502 Bad\n Gateway</h1></html>',
      message: '502 Bad Gateway',
    },
    { note: 'an empty body', body: '', message: undefined },
    { note: 'an array', body: '[1]', message: undefined },
  ])('reads $note [99]', ({ body, message }) => {
    expect(errorMessage(body)).toBe(message);
  });

  test.each([
    { status: 400, kind: SpeechRequestError, retryable: false },
    { status: 401, kind: SpeechAuthError, retryable: false },
    { status: 403, kind: SpeechAuthError, retryable: false },
    { status: 404, kind: SpeechRequestError, retryable: false },
    { status: 413, kind: SpeechRequestError, retryable: false },
    { status: 422, kind: SpeechRequestError, retryable: false },
    { status: 429, kind: SpeechBusyError, retryable: true },
    { status: 500, kind: SpeechUnavailableError, retryable: true },
    { status: 503, kind: SpeechUnavailableError, retryable: true },
    { status: 504, kind: SpeechUnavailableError, retryable: true },
  ])('makes one typed error of $status, with its request id and raw body [99]', ({ status, kind, retryable }) => {
    const error = errorOfAnswer('transcription', status, '{"detail":"why"}', 'req-1');
    expect(error).toBeInstanceOf(kind);
    expect(error).toMatchObject({ status, requestId: 'req-1', body: '{"detail":"why"}', retryable });
    expect(error.message).toContain('why');
    expect(error.message).toContain(String(status));
  });

  it('keeps a bounded part of a huge body', () => {
    const error = errorOfAnswer('transcription', 500, JSON.stringify({ detail: 'x'.repeat(1_000_000) }), undefined);
    expect(error.body).toHaveLength(2_000);
    expect(error.message.length).toBeLessThan(700);
  });
});
