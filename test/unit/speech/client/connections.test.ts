import { expect, it, onTestFinished, vi } from 'vitest';
import { PatientFetch } from '../../../../src/speech/client/connections.ts';
import { SpeechPlatform } from '../../../../src/speech/platform.ts';

/** What an agent of the runtime's library was made with; it tells nobody otherwise. */
function limitsOf(dispatcher: object): unknown {
  const options = Object.getOwnPropertySymbols(dispatcher).find(({ description }) => description === 'options');
  return options === undefined ? undefined : Reflect.get(dispatcher, options);
}

function spied(): RequestInit[] {
  const sent: RequestInit[] = [];
  const spy = vi.spyOn(globalThis, 'fetch').mockImplementation(async (_url, init) => {
    sent.push(init ?? {});
    return Response.json({ ok: true });
  });
  onTestFinished(() => spy.mockRestore());
  return sent;
}

it('is what a client sends with, and waits for heads and bodies without a limit of its own', async () => {
  const sent = spied();
  await using client = new SpeechPlatform({ asrUrl: 'https://asr.example', token: 'a-token' });
  await client.health(new AbortController().signal);
  expect(limitsOf(Reflect.get(sent[0]!, 'dispatcher'))).toMatchObject({ headersTimeout: 0, bodyTimeout: 0 });
});

it('keeps to what the request says otherwise', async () => {
  const sent = spied();
  await using patient = new PatientFetch();
  await patient.fetch('https://asr.example', { method: 'POST', redirect: 'error', body: 'x' });
  expect(sent).toMatchObject([{ method: 'POST', redirect: 'error', body: 'x' }]);
});
