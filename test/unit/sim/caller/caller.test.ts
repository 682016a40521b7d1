import { describe, expect, it } from 'vitest';
import { encodeMulaw } from '../../../../src/audio/g711.ts';
import { sine } from '../../../../src/audio/tone.ts';
import { ScriptedCaller, type CallerLine, type CallerStep, type StepReport } from '../../../../src/sim/caller/caller.ts';
import { CallerTimeout } from '../../../../src/sim/errors.ts';
import { PlayoutBuffer } from '../../../../src/sim/caller/playout-buffer.ts';

const FRAME_MS = 20;

/** A line whose time is moved by hand, with a bot at its other end that plays tones. */
class HandLine implements CallerLine {
  readonly buffer = new PlayoutBuffer();
  readonly pressed: { digit: string; atMs: number }[] = [];
  /** Called after each 20 ms, for the bot's part. */
  bot: (nowMs: number) => void = () => undefined;
  nowMs = 0;
  open = true;
  #spokenUntilMs = 0;
  readonly #watchers = new Set<() => void>();

  get silent(): boolean {
    return this.nowMs >= this.#spokenUntilMs;
  }

  /** Whether the caller is speaking. */
  get speaking(): boolean {
    return !this.silent;
  }

  botSays(ms: number): void {
    this.buffer.append(encodeMulaw(sine(300, ms, 8000, 0.2)), this.nowMs);
  }

  say(pcm: Int16Array): number {
    const atMs = Math.max(this.nowMs, this.#spokenUntilMs);
    this.#spokenUntilMs = atMs + pcm.length / 8;
    return atMs;
  }

  press(digit: string): void {
    this.pressed.push({ digit, atMs: this.nowMs });
  }

  stop(): void {
    this.open = false;
  }

  watch(listener: () => void): () => void {
    this.#watchers.add(listener);
    return () => this.#watchers.delete(listener);
  }

  /** Runs the script to its end, 20 ms at a time. */
  async play(steps: readonly CallerStep[], patienceMs = 5000): Promise<readonly StepReport[]> {
    const state = { over: false };
    const run = new ScriptedCaller(this, patienceMs).run(steps).finally(() => {
      state.over = true;
    });
    run.catch(() => undefined);
    while (!state.over) {
      this.nowMs += FRAME_MS;
      this.buffer.advance(this.nowMs);
      this.bot(this.nowMs);
      for (const watcher of this.#watchers) watcher();
      // A step that is done hands over to the next within a few turns of the microtask queue.
      for (let turn = 0; turn < 10; turn += 1) await Promise.resolve();
    }
    return run;
  }
}

const speech = (ms: number): Int16Array => new Int16Array(ms * 8);

/** Answers each time the caller has finished speaking, `thinkMs` later, for `lengthMs`. */
function answering(line: HandLine, thinkMs: number, lengthMs: number): void {
  let spokenAtMs: number | undefined = -thinkMs;
  line.bot = (nowMs) => {
    if (line.speaking) spokenAtMs = nowMs;
    else if (spokenAtMs !== undefined && nowMs - spokenAtMs >= thinkMs) {
      spokenAtMs = undefined;
      line.botSays(lengthMs);
    }
  };
}

describe('taking turns', () => {
  it('speaks when the bot has finished, not in its pauses', async () => {
    const line = new HandLine();
    let part = 0;
    const starts = [100, 1000];
    line.bot = (nowMs) => {
      if (nowMs === starts[part]) {
        part += 1;
        line.botSays(500);
      }
    };
    const [report] = await line.play([{ kind: 'say', text: 'yes', pcm: speech(400) }]);
    // The second part ends at 1500; 700 ms of silence, and it speaks.
    expect(report!.atMs).toBeGreaterThanOrEqual(2200);
    expect(report!.atMs).toBeLessThanOrEqual(2260);
  });

  it('waits for an answer to each thing it says', async () => {
    const line = new HandLine();
    answering(line, 600, 800);
    const say: CallerStep = { kind: 'say', text: 'yes', pcm: speech(400) };
    const reports = await line.play([say, say, say]);
    const gaps = reports.slice(1).map((report, index) => report.atMs - reports[index]!.atMs);
    // 400 of its own, 600 of thought, 800 of answer, 700 of silence.
    for (const gap of gaps) expect(Math.abs(gap - 2520)).toBeLessThanOrEqual(60);
  });

  it('takes what the bot begins to say into its last words for the answer to them', async () => {
    const line = new HandLine();
    let beganMs: number | undefined;
    line.bot = (nowMs) => {
      if (nowMs === 100) line.botSays(500);
      if (!line.speaking || beganMs !== undefined) return;
      beganMs = nowMs;
      line.buffer.append(new Uint8Array(600 * 8).fill(0xff), nowMs);
      line.botSays(800);
    };
    const reports = await line.play([{ kind: 'say', text: 'Tuesday, at ten', pcm: speech(1000) }, { kind: 'hang-up' }]);
    expect(reports).toHaveLength(2);
  });

  it('gives up, and says what it waited for, when the bot says nothing', async () => {
    const line = new HandLine();
    await expect(line.play([{ kind: 'say', text: 'hello?', pcm: speech(100) }], 1000)).rejects.toThrow(
      expect.objectContaining({
        code: 'OFFHOOK_SIM_CALLER_TIMEOUT',
        facts: expect.objectContaining({ waitedFor: 'the bot to finish speaking' }),
      }),
    );
    expect(line.nowMs).toBeLessThan(1200);
  });

  it('gives up at once when the call ends under it', async () => {
    const line = new HandLine();
    line.bot = (nowMs) => {
      if (nowMs === 200) line.open = false;
    };
    await expect(line.play([{ kind: 'say', text: 'hello?', pcm: speech(100) }], 60_000)).rejects.toThrow(CallerTimeout);
  });
});

describe('talking over the bot', () => {
  const interrupt: CallerStep = { kind: 'interrupt', text: 'stop', pcm: speech(300), afterMs: 500 };

  /** A bot that speaks for ten seconds and stops `afterMs` after the caller begins; it answers a second after the caller. */
  function stopping(line: HandLine, afterMs: number | undefined, answerAfterMs = 1000): void {
    let beganMs: number | undefined;
    let cleared = false;
    let answered = false;
    line.bot = (nowMs) => {
      if (nowMs === 100) line.botSays(10_000);
      if (line.speaking) beganMs ??= nowMs;
      if (beganMs === undefined || afterMs === undefined) return;
      if (!cleared && nowMs - beganMs >= afterMs) {
        cleared = true;
        line.buffer.clear(nowMs);
      }
      if (cleared && !answered && nowMs - beganMs >= 300 + answerAfterMs) {
        answered = true;
        line.botSays(600);
      }
    };
  }

  it('begins when it was told to, and measures how long the bot went on', async () => {
    const line = new HandLine();
    stopping(line, 240);
    const [report] = await line.play([interrupt]);
    expect(report!.atMs).toBe(600);
    // The bot notices the caller at the end of the first 20 ms.
    expect(report!.botSilentMs).toBe(260);
  });

  it('reports nothing for a bot that talks on', async () => {
    const line = new HandLine();
    stopping(line, undefined);
    const [report] = await line.play([interrupt]);
    expect(report!.botSilentMs).toBeUndefined();
  });

  it('goes on after a bot that answers before anyone would take it to have finished', async () => {
    const line = new HandLine();
    stopping(line, 240, 300);
    const reports = await line.play([interrupt, { kind: 'say', text: 'thanks', pcm: speech(200) }]);
    expect(reports.map(({ kind }) => kind)).toEqual(['interrupt', 'say']);
    // Answer from 1220 to 1820, silence of 700.
    expect(Math.abs(reports[1]!.atMs - 2540)).toBeLessThanOrEqual(60);
  });

  it('coughs without taking the turn: what the bot says on is still heard out', async () => {
    const line = new HandLine();
    line.bot = (nowMs) => {
      if (nowMs === 100) line.botSays(3000);
    };
    const reports = await line.play([
      { kind: 'cough', pcm: speech(300), afterMs: 500 },
      { kind: 'say', text: 'yes', pcm: speech(200) },
    ]);
    expect(reports[0]).toMatchObject({ atMs: 600, botSilentMs: undefined });
    expect(reports[1]!.atMs).toBeGreaterThanOrEqual(3800);
    expect(reports[1]!.atMs).toBeLessThanOrEqual(3860);
  });
});

describe('keys and the end', () => {
  it('presses keys when the bot has finished, or into its speech where it was told to', async () => {
    const line = new HandLine();
    answering(line, 300, 1000);
    const bot = line.bot;
    line.bot = (nowMs) => {
      bot(nowMs);
      if (line.pressed.length === 2 && line.nowMs === line.pressed[1]!.atMs + 200) line.botSays(2000);
    };
    const reports = await line.play([
      { kind: 'press', digits: '42' },
      { kind: 'press', digits: '#', afterMs: 300 },
    ]);
    expect(line.pressed.map(({ digit }) => digit).join('')).toBe('42#');
    expect(reports[1]!.atMs - reports[0]!.atMs).toBeGreaterThanOrEqual(500);
    expect(reports[1]!.atMs - reports[0]!.atMs).toBeLessThanOrEqual(560);
  });

  it('hangs up when the bot has finished', async () => {
    const line = new HandLine();
    answering(line, 300, 1000);
    const [report] = await line.play([{ kind: 'hang-up' }]);
    expect(line.open).toBe(false);
    expect(report!.atMs).toBeGreaterThanOrEqual(1700);
  });

  it('waits for the bot to hang up', async () => {
    const line = new HandLine();
    line.bot = (nowMs) => {
      if (nowMs === 1000) line.stop();
    };
    const [report] = await line.play([{ kind: 'wait-for-end' }]);
    expect(report!.atMs).toBe(1000);
  });
});

it('takes what begins in the very frame of a key for its answer, and does not wait for another', async () => {
  const line = new HandLine();
  line.botSays(600);
  const press = line.press.bind(line);
  line.press = (digit) => {
    press(digit);
    line.botSays(400);
  };
  const acts = ['1', '2'].map((digits) => ({ kind: 'press', digits }) as const);
  const reports = await line.play([...acts, { kind: 'hang-up' }], 4_000);
  expect(reports.map(({ kind }) => kind)).toEqual(['press', 'press', 'hang-up']);
});
