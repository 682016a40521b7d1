import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ConnectionFault } from '../support/faults/connection-fault.ts';
import { startTestPlatform, type TestPlatform } from '../integration/platform/setup.ts';
import { converse, isEveryWordAccountedFor, speakInOne, speakOnSocket, upload } from './speech-runs.ts';

let server: TestPlatform;
beforeAll(async () => void (server = await startTestPlatform()));
afterAll(() => server[Symbol.asyncDispose]());

const nameOf = (fault: ConnectionFault): string => `${fault.kind}, ${fault.direction ?? 'up'}`;
const named = (faults: readonly ConnectionFault[][]) =>
  faults.map((each) => ({ faults: each, name: each.map(nameOf).join('; ') }));

describe('recognition over a broken line', () => {
  const conversation = { turns: [['alpha', 'bravo'], ['charlie']], waits: true } as const;

  it.each(
    named([
      [
        { kind: 'drop', afterBytes: 4_000 },
        { kind: 'drop', afterBytes: 9_000 },
      ],
      [
        { kind: 'reset', afterBytes: 12_000 },
        { kind: 'reset', afterBytes: 2_500 },
      ],
      [{ kind: 'stall', afterBytes: 9_000 }],
      [{ kind: 'stall', afterBytes: 300, direction: 'down' }],
      [{ kind: 'slow', pieceBytes: 700, everyMs: 4 }],
      [{ kind: 'truncated-frame', frame: 3, direction: 'down' }],
      [{ kind: 'wrong-frame-length', frame: 2, by: 7, direction: 'down' }],
      [{ kind: 'wrong-frame-length', frame: 3, by: -9, direction: 'down' }],
    ]),
  )('hears every word once ($name)', async ({ faults }) => {
    const { words, events, broken } = await converse(server, conversation, faults);
    expect(broken).toBe(faults.length);
    expect(events.filter(({ type }) => type === 'audio-lost')).toEqual([]);
    expect(words).toEqual(['alpha', 'bravo', 'charlie']);
  });

  it('hears words once when any message of the platform comes twice', async () => {
    const twice = (frame: number) => converse(server, conversation, [{ kind: 'duplicated-frame', frame, direction: 'down' }]);
    const all: Awaited<ReturnType<typeof twice>>[] = [];
    // One after another: the client's time limits are a tenth of what they are, and all at once would keep each other waiting.
    for (let frame = 0; frame < 12; frame += 1) all.push(await twice(frame));
    expect(all.filter(({ broken }) => broken === 1).length).toBeGreaterThan(6);
    for (const { words } of all) expect(words).toEqual(['alpha', 'bravo', 'charlie']);
  });

  it('names the interval that a platform gone for good has not heard', async () => {
    const faults = Array.from({ length: 8 }, () => ({ kind: 'drop', afterBytes: 6_000 }) as const);
    const heard = await converse(server, conversation, faults);
    expect(heard.events.at(-1)).toMatchObject({ type: 'closed', error: { code: 'OFFHOOK_SPEECH_UNAVAILABLE' } });
    expect(heard.events.at(-2)).toMatchObject({ type: 'audio-lost', fromMs: 0 });
    expect(isEveryWordAccountedFor(conversation, heard)).toBe(true);
  });
});

describe('an upload over a broken line', () => {
  it.each(
    named([
      [{ kind: 'reset', afterBytes: 15_000 }],
      [{ kind: 'drop', afterBytes: 100, direction: 'down' }],
      [{ kind: 'slow', pieceBytes: 2_000, everyMs: 2 }],
    ]),
  )('has its words, and says how often it was sent ($name)', async ({ faults }) => {
    const { outcome, told, transcribed } = await upload(server, ['bravo', 'alpha'], faults);
    expect(outcome).toEqual({ value: 'bravo alpha' });
    expect(told).toBe(faults[0]!.kind === 'slow' ? 1 : 2);
    expect(transcribed).toBe(faults[0]!.direction === 'down' ? 2 : 1);
  });

  it.each(
    named([
      [{ kind: 'wrong-content-length', by: -9, direction: 'up' }],
      [{ kind: 'wrong-content-length', by: -9, direction: 'down' }],
    ]),
  )('fails with one typed error ($name)', async ({ faults }) => {
    const { outcome, told, transcribed } = await upload(server, ['bravo'], faults);
    expect(outcome).toMatchObject({
      error: { code: expect.stringMatching(/^OFFHOOK_SPEECH_(REQUEST|PROTOCOL)$/u), attempts: 1 },
    });
    expect(transcribed).toBeLessThanOrEqual(told);
  });
});

describe('synthesis over a broken line', () => {
  it.each(
    named([
      [{ kind: 'drop', afterBytes: 20_000, direction: 'down' }],
      [{ kind: 'reset', afterBytes: 20_000, direction: 'down' }],
      [{ kind: 'wrong-content-length', by: -9, direction: 'down' }],
      [{ kind: 'wrong-content-length', by: 9, direction: 'down' }],
    ]),
  )('never calls half a file whole ($name)', async ({ faults }) => {
    const { outcome, broken } = await speakInOne(server, 'A sentence that is long enough.', 'wav', faults);
    expect(broken).toBe(1);
    expect(outcome).toMatchObject({ error: { code: expect.stringMatching(/^OFFHOOK_SPEECH_(UNAVAILABLE|PROTOCOL)$/u) } });
  });

  it.each(
    named([
      [{ kind: 'drop', afterBytes: 3_000, direction: 'down' }],
      [{ kind: 'stall', afterBytes: 3_000, direction: 'down' }],
      [{ kind: 'truncated-frame', frame: 3, direction: 'down' }],
      [{ kind: 'duplicated-frame', frame: 2, direction: 'down' }],
      [{ kind: 'duplicated-frame', frame: 3, direction: 'down' }],
      [{ kind: 'wrong-frame-length', frame: 3, by: 5, direction: 'down' }],
    ]),
  )('never calls half a sentence on a socket whole, and speaks the next ($name)', async ({ faults }) => {
    const texts = ['A sentence that is long enough.', 'Another one.'];
    const [first, second] = await speakOnSocket(server, texts, faults);
    expect(first).toMatchObject({ broken: 1, outcome: { error: { code: expect.stringMatching(/^OFFHOOK_SPEECH_/u) } } });
    expect(second!.outcome).toHaveProperty('value');
  });
});
