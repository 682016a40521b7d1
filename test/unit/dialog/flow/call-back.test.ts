import { describe, expect, it } from 'vitest';
import { flowHooks } from '../../../../src/dialog/flow/hook.ts';
import { stepFlow } from '../../../../src/dialog/flow/flow.ts';
import { newFlowState } from '../../../../src/dialog/flow/flow-state.ts';
import { parseFlow } from '../../../../src/dialog/flow/load.ts';
import type { CallBackReading, DialogAction } from '../../../../src/dialog/port.ts';
import { momentOf } from '../../../../src/language/index.ts';
import type { CallIdentity } from '../../../../src/call/log/call-record.ts';
import { CallBench } from '../../call/call-bench.ts';
import { saidIn, SMALL, TODAY } from './talk.ts';

const WISH: CallBackReading = { atMs: Date.UTC(2026, 0, 2, 11, 30), said: "tomorrow at five o'clock in the afternoon" };

/** A caller's words in turn, with what was read of a wish for a call. */
function talk(flow: unknown, lines: readonly (readonly [string, CallBackReading?])[]) {
  const parsed = parseFlow(flow, { language: 'en' });
  let step = stepFlow(parsed, newFlowState('en'), { kind: 'start' }, { today: TODAY });
  for (const [text, callBack] of lines) {
    const input = { kind: 'spoken', text, language: 'en', ...(callBack === undefined ? {} : { callBack }) } as const;
    step = stepFlow(parsed, step.state, input, { today: TODAY, heard: '' });
  }
  return step;
}

const kinds = (actions: readonly DialogAction[]): readonly string[] => actions.map(({ type }) => type);

describe('a flow whose person asks to be called', () => {
  it('says when, asks for the call, notes it and hangs up', () => {
    const { actions } = talk(SMALL, [['call me tomorrow at five', WISH]]);
    expect(actions).toMatchObject([
      { type: 'say', text: "All right, I will call you tomorrow at five o'clock in the afternoon. Goodbye." },
      { type: 'call-back', at: '2026-01-02T11:30:00.000Z' },
      { type: 'note', text: "call back: tomorrow at five o'clock in the afternoon" },
      { type: 'hangup', reason: 'call-back' },
    ]);
  });

  it('promises another time where none was named', () => {
    const { actions } = talk(SMALL, [['call me later', {}]]);
    expect(saidIn(actions)).toBe('All right, I will call you another time. Goodbye.');
    expect(actions[1]).toEqual({ type: 'call-back' });
  });

  it('takes another time over its goodbye', () => {
    const later = { atMs: WISH.atMs ?? 0, said: 'on Monday at noon' };
    const { actions } = talk(SMALL, [
      ['call me tomorrow at five', WISH],
      ['no call me on monday at noon', later],
    ]);
    expect(saidIn(actions)).toContain('on Monday at noon');
    expect(kinds(actions)).toEqual(['say', 'call-back', 'note', 'hangup']);
  });

  it('takes the words for an answer where it has asked for a day', () => {
    const { actions, state } = talk(SMALL, [['repair'], ['call me tomorrow', WISH]]);
    expect(state.slots['day']).toBe('2026-01-02');
    expect(kinds(actions)).not.toContain('call-back');
  });

  it('words it itself, or goes on where it likes', () => {
    const commands = { ...SMALL.commands, callBack: { say: 'Then until {{ heard }}.' } };
    expect(saidIn(talk({ ...SMALL, commands }, [['call me tomorrow', WISH]]).actions)).toContain('Then until tomorrow at five');
    const goes = { ...SMALL.commands, callBack: { go: 'told' } };
    const { actions } = talk({ ...SMALL, commands: goes }, [['call me tomorrow', WISH]]);
    expect(kinds(actions)).toEqual(['call-back', 'note', 'say', 'hangup']);
  });

  it('does none of it where the command is switched off', () => {
    const commands = { ...SMALL.commands, callBack: false };
    expect(kinds(talk({ ...SMALL, commands }, [['call me tomorrow', WISH]]).actions)).not.toContain('call-back');
  });

  it('asks for a call at what its slots hold', () => {
    const flow = {
      start: 'when',
      slots: { day: { kind: 'day' }, time: { kind: 'time' } },
      states: {
        when: { ask: { slot: 'day', also: ['time'], prompt: 'When?' }, next: 'hour' },
        hour: { ask: { slot: 'time', prompt: 'What time?' }, next: 'bye' },
        bye: { callBack: { day: 'day', time: 'time' }, say: 'Until then.', hangup: 'call-back' },
      },
    };
    const { actions } = talk(flow, [['tomorrow'], ['at five']]);
    expect(actions).toContainEqual({ type: 'call-back', at: '2026-01-02T17:00' });
    expect(() =>
      parseFlow({ ...flow, states: { ...flow.states, bye: { callBack: { day: 'dya' }, hangup: 'x' } } }, { language: 'en' }),
    ).toThrow(/dya/u);
  });
});

describe('a call that we placed', () => {
  const flow = parseFlow(SMALL, { language: 'en' });
  async function placed(words: string, about: Partial<CallIdentity>) {
    const holder: { hook?: ReturnType<ReturnType<typeof flowHooks>['create']> } = {};
    const bench = new CallBench(
      (turn, signal) => {
        holder.hook ??= flowHooks(flow, bench.clock).create(turn.call);
        return holder.hook.respond(turn, signal);
      },
      { timeZone: 'Asia/Kolkata', language: 'en' },
      about,
    );
    await bench.start();
    await bench.quiet(4_000);
    await bench.voice(600);
    await bench.quiet(700);
    bench.recognised(0, words);
    await bench.quiet(8_000);
    return bench;
  }
  const inbound = { carrier: 'bench', carrierCallId: 'CA1', from: '+15550100', to: '+919876543210', botName: 'bench' };

  it('keeps when the person asked to be called, in their own time zone', async () => {
    const outbound = { variables: {}, metadata: {}, duties: [], zone: 'America/New_York' };
    using bench = await placed('call me tomorrow at five', { inbound: { ...inbound, direction: 'outbound' }, outbound });
    const record = await bench.session.ended;
    expect(record.endReason).toBe('call-back');
    const today = new Date(bench.clock.wallMs()).toLocaleString('sv-SE', { timeZone: 'America/New_York' }).slice(0, 10);
    const tomorrow = new Date(Date.parse(`${today}T12:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
    expect(record.callBackAtWallMs).toBe(momentOf(`${tomorrow}T17:00`, 'America/New_York'));
    expect(record.turns.at(-1)?.botText).toContain('tomorrow at five');
  });

  it('reads no wish where the person has called', async () => {
    using bench = await placed('call me tomorrow at five', { inbound: { ...inbound, direction: 'inbound' } });
    expect(bench.asked.at(-1)?.input).not.toHaveProperty('callBack');
    expect(bench.session.attached).toBe(true);
  });
});
