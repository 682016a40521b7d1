import { describe, expect, it } from 'vitest';
import { startTestPlatform, TestSocket } from './setup.ts';
import { sayTones } from './tone-engines.ts';

const said = sayTones(['alpha'], 8000);
const silence = (ms: number) => new Int16Array((8000 * ms) / 1000);
const together = (...parts: Int16Array[]) => Int16Array.from(parts.flatMap((part) => [...part]));

describe('the hosted-like profile', () => {
  it('endpoints by itself, marks nothing, and answers the commit that comes too late with an empty final', async () => {
    await using test = await startTestPlatform({ profile: 'hosted-like', behaviour: { finalDelaysMs: [0] } });
    await using socket = await TestSocket.ready(test);
    socket.pcm(together(said, silence(700)));
    await socket.until(() => socket.of('final').length === 1);
    socket.text('commit');
    await socket.until(() => socket.of('final').length === 2);
    expect(socket.of('final').map(({ seg, text }) => [seg, text].join(' '))).toEqual(['0 alpha', '1 ']);
    expect(socket.of('final').some((event) => 'end_of_utterance' in event)).toBe(false);
  });

  it('lets a commit before its endpoint win', async () => {
    await using test = await startTestPlatform({ profile: 'hosted-like', behaviour: { finalDelaysMs: [0] } });
    await using socket = await TestSocket.ready(test);
    socket.pcm(together(said, silence(500)));
    socket.text('commit');
    socket.pcm(silence(700));
    await socket.until(() => socket.of('final').length === 1);
    expect(socket.of('final')).toMatchObject([{ seg: 0, text: 'alpha' }]);
  });

  it('sends an empty final for each 800 ms of silence', async () => {
    await using test = await startTestPlatform({ profile: 'hosted-like', behaviour: { finalDelaysMs: [0] } });
    await using socket = await TestSocket.ready(test);
    socket.pcm(silence(2500));
    await socket.until(() => socket.of('final').length === 3);
    expect(socket.of('final').map(({ text }) => text)).toEqual(['', '', '']);
  });

  it('sends late finals in order, all before the close on end', async () => {
    await using test = await startTestPlatform({ profile: 'hosted-like', behaviour: { finalDelaysMs: [120, 10, 40] } });
    await using socket = await TestSocket.ready(test);
    for (const word of ['alpha', 'bravo', 'charlie'] as const) {
      socket.pcm(sayTones([word], 8000));
      socket.text('commit');
    }
    socket.text('end');
    expect((await socket.untilClosed()).code).toBe(1000);
    expect(socket.of('final').map(({ seg, text }) => [seg, text].join(' '))).toEqual(['0 alpha', '1 bravo', '2 charlie']);
  });

  it('keeps seg in order when a commit comes while refinements are pending [205]', async () => {
    await using test = await startTestPlatform({ behaviour: { finalDelaysMs: [60, 0] } });
    await using socket = await TestSocket.ready(test, { codeswitch: true });
    for (const word of ['alpha', 'bravo'] as const) {
      socket.pcm(sayTones([word], 8000));
      socket.text('commit');
    }
    socket.text('end');
    await socket.untilClosed();
    const shown = socket.events.filter(({ type }) => String(type).startsWith('final'));
    expect(shown.map(({ type, seg }) => [type, seg])).toEqual([
      ['final', 0],
      ['final_refined', 0],
      ['final', 1],
      ['final_refined', 1],
    ]);
  });
});
