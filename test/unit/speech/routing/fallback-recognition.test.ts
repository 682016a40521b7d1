import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../../support/manual-clock.ts';
import { FallbackRecognition } from '../../../../src/speech/routing/fallback-recognition.ts';
import type { RecogniserCapabilities, RecognitionEvent } from '../../../../src/speech/port.ts';
import { thorough } from '../../../support/thorough.ts';
import { ScriptedRecogniser, type SessionScript, silence, spoken } from './scripted-recogniser.ts';

interface World {
  readonly clock: ManualClock;
  readonly first: ScriptedRecogniser;
  readonly second: ScriptedRecogniser;
  readonly session: FallbackRecognition;
  readonly events: readonly RecognitionEvent[];
  /** `from>to reason`. */
  readonly switches: readonly string[];
  readonly failed: readonly string[];
  readonly slots: { held: number; free: number };
  /** Texts of the finals, one after the other. */
  words(): string;
}

/** @param capabilities of the second @param own of the first */
function world(
  script: SessionScript = { readyMs: 50, finalMs: 200 },
  capabilities: Partial<RecogniserCapabilities> = {},
  own: Partial<RecogniserCapabilities> = {},
): World {
  const clock = new ManualClock(1_000);
  const first = new ScriptedRecogniser(clock, script, own);
  const second = new ScriptedRecogniser(clock, undefined, capabilities);
  const events: RecognitionEvent[] = [];
  const switches: string[] = [];
  const failed: string[] = [];
  const slots = { held: 0, free: Number.POSITIVE_INFINITY };
  const candidate = (name: string, recogniser: ScriptedRecogniser) => ({
    name,
    recogniser,
    mayIdle: () => true,
    takeSlot() {
      if (slots.held >= slots.free) return undefined;
      slots.held += 1;
      return { release: () => void (slots.held -= 1) };
    },
  });
  const session = new FallbackRecognition(
    [candidate('first', first), candidate('second', second)],
    { language: 'en', sampleRateHz: 8_000 },
    (event) => void events.push(event),
    {
      clock,
      watch: {
        switched: (from, to, reason) => void switches.push(`${from.name}>${to.name} ${reason}`),
        failed: ({ name }) => void failed.push(name),
        answered: () => undefined,
        finalLateMs: () => 1_200,
      },
    },
  );
  session.start();
  const words = (): string =>
    events
      .flatMap((event) => (event.type === 'final' ? event.text : []))
      .filter((text) => text !== '')
      .join(' ');
  return { clock, first, second, session, events, switches, failed, slots, words };
}

/** Says words of 100 ms each, and is silent as long as ends a turn. */
function say({ session, clock }: Pick<World, 'session' | 'clock'>, ...words: readonly number[]): void {
  for (const word of words) {
    session.send(spoken(word));
    clock.advance(100);
  }
  for (let quiet = 0; quiet < 5; quiet += 1) {
    session.send(silence);
    clock.advance(100);
  }
}

/** Commits, and lets so much time pass. */
function commit({ session, clock }: Pick<World, 'session' | 'clock'>, thenMs: number): void {
  session.commit();
  clock.advance(thenMs);
}

describe('recognition with another recogniser standing by', () => {
  it('opens no other session while the first does what it should', () => {
    const call = world();
    for (const turn of [1, 3, 5]) {
      say(call, turn, turn + 1);
      commit(call, 1_000);
    }
    expect(call.words()).toBe('1 2 3 4 5 6');
    expect(call.second.sessions).toEqual([]);
    expect(call.slots.held).toBe(1);
  });

  it('opens one at once where an idle session costs nothing', () => {
    const call = world(undefined, { mayIdle: true });
    expect(call.second.sessions).toHaveLength(1);
    say(call, 1);
    expect(call.second.last.heard).toEqual([]);
    call.session.abort();
    expect([call.second.last.state, call.slots.held]).toEqual(['aborted', 0]);
  });

  it('tells the session that stands by of other hints too, as many as it takes', () => {
    const call = world(undefined, { mayIdle: true, mostHints: 2 });
    const told: string[] = [];
    for (const [name, { last }] of Object.entries({ first: call.first, second: call.second }))
      Object.assign(last, { listenFor: (phrases: readonly string[]) => told.push(`${name} ${phrases.join(' ')}`) });
    call.session.listenFor?.(['room', 'suite', 'floor']);
    expect(told).toEqual(['first room suite floor', 'second room suite']);
  });

  it.each([
    {
      note: 'its session closes',
      fail: (call: World) => call.first.last.emit({ type: 'closed', error: new Error('gone') }),
      reason: 'closed',
    },
    { note: 'it says nothing to a commit', fail: (call: World) => void (call.first.last.script = {}), reason: 'final-late' },
    {
      note: 'it does not get its socket back',
      fail: (call: World) => {
        call.first.last.script = {};
        call.first.last.emit({ type: 'reconnecting', reason: 'reset' });
      },
      reason: 'reconnecting',
    },
  ] as const)('goes on with the same words within two seconds when $note', ({ fail, reason }) => {
    const call = world();
    say(call, 1);
    commit(call, 500);
    call.first.last.partial('7');
    say(call, 7, 8);
    fail(call);
    call.session.commit();
    const committedMs = call.clock.nowMs();
    while (call.words() !== '1 7 8' && call.clock.nowMs() - committedMs < 2_000) call.clock.advance(10);
    expect(call.words()).toBe('1 7 8');
    expect(call.switches).toEqual([`first>second ${reason}`]);
    expect(call.failed).toEqual(['first']);
    expect(call.slots.held).toBe(1);
    const segs = call.events.flatMap((event) => (event.type === 'final' ? event.seg : []));
    expect(segs).toEqual([0, 1]);
    say(call, 9);
    commit(call, 300);
    expect(call.words()).toBe('1 7 8 9');
  });

  it('goes on with another one when the first is never ready', () => {
    const call = world({});
    say(call, 1, 2);
    commit(call, 2_000);
    expect(call.words()).toBe('1 2');
    expect(call.events[0]).toEqual({ type: 'ready' });
    expect(call.switches).toEqual(['first>second opening-late']);
  });

  it('takes a late final of the first, and gives the other session up', () => {
    const call = world({ readyMs: 50, finalMs: 1_250 });
    call.second.script = { readyMs: 300, finalMs: 300 };
    say(call, 1);
    commit(call, 3_000);
    expect([call.words(), call.switches, call.slots.held]).toEqual(['1', [], 1]);
    expect(call.second.last.state).toBe('aborted');
  });

  it('waits for no final of a commit without speech', () => {
    const call = world({ readyMs: 50 });
    say(call);
    commit(call, 5_000);
    expect(call.second.sessions).toEqual([]);
  });

  it.each([
    { note: 'takes nothing for an answer once the other one has heard nothing either', words: '', by: [] },
    {
      note: 'does not take nothing for an answer where the other one heard words',
      words: '1 2 3 4',
      by: ['first>second final-late'],
    },
    {
      note: 'does not take nothing for an answer that comes late',
      words: '1 2 3 4',
      by: ['first>second final-late'],
      afterMs: 1_300,
    },
  ])('$note', ({ words, by, afterMs = 300 }) => {
    const call = world();
    if (words === '') call.second.deaf = true;
    call.first.last.script = {};
    say(call, 1, 2, 3, 4);
    commit(call, afterMs);
    call.first.last.emit({ type: 'final', seg: 0, text: '', endOfUtterance: true, language: undefined });
    expect(call.events.some(({ type }) => type === 'final')).toBe(false);
    call.clock.advance(1_000);
    expect([call.words(), call.switches, call.failed]).toEqual([words, by, []]);
    expect(call.events.filter(({ type }) => type === 'final')).toHaveLength(1);
  });

  it('stays with a recogniser that says nothing to a cough later than the other one', () => {
    const call = world();
    call.second.deaf = true;
    call.first.last.script = {};
    say(call, 1, 2);
    commit(call, 2_000);
    expect([call.words(), call.switches, call.failed, call.slots.held]).toEqual(['', [], [], 1]);
    expect(call.events.filter(({ type }) => type === 'final')).toHaveLength(1);
    // Its own answer of nothing would be a second one.
    call.first.last.emit({ type: 'final', seg: 0, text: '', endOfUtterance: true, language: undefined });
    call.first.last.script = { finalMs: 200 };
    say(call, 3);
    commit(call, 300);
    const finals = call.events.flatMap((event) => (event.type === 'final' ? [event] : []));
    expect(finals[1]?.text).toContain('3');
    expect(new Set(finals.map(({ seg }) => seg)).size).toBe(2);
  });

  it('numbers words that come after all behind the nothing that the other one has heard', () => {
    const call = world();
    call.second.deaf = true;
    call.first.last.script = {};
    say(call, 1, 2);
    commit(call, 2_000);
    call.first.last.emit({ type: 'final', seg: 0, text: '1 2', endOfUtterance: true, language: undefined });
    expect(call.events.filter(({ type }) => type === 'final')).toMatchObject([
      { seg: 0, text: '' },
      { seg: 1, text: '1 2' },
    ]);
  });

  it('awaits nothing as long as its recogniser takes to say so', () => {
    const call = world(undefined, {}, { nothingMs: 2_000 });
    call.first.last.script = {};
    say(call, 1);
    commit(call, 2_100);
    expect(call.second.sessions).toEqual([]);
    call.clock.advance(1_000);
    expect(call.words()).toBe('1');
  });

  it('leaves no recogniser that is still hearing new words', () => {
    const call = world();
    call.first.last.script = {};
    say(call, 1);
    call.session.commit();
    for (const text of ['1', '1 2', '1 2 3', '1 2 3 4']) {
      call.clock.advance(900);
      call.first.last.partial(text);
    }
    expect([call.second.sessions, call.switches]).toEqual([[], []]);
  });

  it('takes voice after a commit of silence for no late final', () => {
    const call = world();
    call.first.last.script = {};
    say(call);
    commit(call, 6_000);
    call.session.send(spoken(1));
    call.session.send(spoken(2));
    call.clock.advance(100);
    commit(call, 1_000);
    expect(call.second.sessions).toEqual([]);
  });

  it('believes that nothing was said although the other one does not get ready, and calls nobody failed', () => {
    const call = world();
    call.second.script = {};
    call.first.last.script = {};
    say(call, 1, 2, 3, 4);
    call.session.commit();
    call.first.last.emit({ type: 'final', seg: 0, text: '', endOfUtterance: true, language: undefined });
    call.clock.advance(1_100);
    expect(call.events.some(({ type }) => type === 'final')).toBe(false);
    call.clock.advance(200);
    expect(call.events.filter(({ type }) => type === 'final')).toHaveLength(1);
    expect([call.switches, call.failed]).toEqual([[], []]);
  });

  it('takes over with a session that got its socket back while it stood by', () => {
    const call = world(undefined, { mayIdle: true });
    call.clock.advance(100);
    call.second.last.emit({ type: 'reconnecting', reason: 'idle for long' });
    call.second.last.emit({ type: 'ready' });
    say(call, 1);
    call.first.last.emit({ type: 'closed', error: new Error('gone') });
    commit(call, 300);
    expect([call.words(), call.switches]).toEqual(['1', ['first>second closed']]);
    expect(call.events.map(({ type }) => type)).not.toContain('reconnecting');
  });

  it('ends with the error when all have failed, and tries none for ever', () => {
    const call = world();
    call.clock.advance(100);
    call.first.last.emit({ type: 'closed', error: new Error('first') });
    call.second.last.emit({ type: 'closed', error: new Error('second') });
    expect(call.events.at(-1)).toEqual({ type: 'closed', error: new Error('second') });
    expect([call.first.sessions.length, call.second.sessions.length, call.slots.held]).toEqual([1, 1, 0]);
  });

  it('tries the first again when the other one fails after having worked', () => {
    const call = world();
    call.clock.advance(100);
    call.first.last.emit({ type: 'closed', error: new Error('first') });
    say(call, 1);
    commit(call, 300);
    call.second.last.emit({ type: 'closed', error: new Error('second') });
    say(call, 2);
    commit(call, 300);
    expect([call.words(), call.switches.length]).toEqual(['1 2', 2]);
  });

  it('stays with the first while no slot of another is free', () => {
    const call = world();
    call.slots.free = 1;
    call.first.last.script = {};
    say(call, 1);
    commit(call, 3_000);
    call.first.last.emit({ type: 'final', seg: 0, text: '1', endOfUtterance: true, language: undefined });
    expect([call.words(), call.switches, call.failed]).toEqual(['1', [], []]);
  });

  it('clears the words of a later segment that the other one will say again', () => {
    const call = world();
    call.clock.advance(100);
    call.first.last.emit({ type: 'partial', seg: 0, text: 'one' });
    call.first.last.emit({ type: 'partial', seg: 1, text: 'two' });
    call.first.last.emit({ type: 'closed', error: new Error('gone') });
    expect(call.events.at(-1)).toEqual({ type: 'partial', seg: 1, text: '' });
  });

  it('tells of speech that was too long to be kept', () => {
    const call = world();
    for (let word = 0; word < 150; word += 1) {
      call.session.send(spoken(word));
      call.clock.advance(100);
    }
    call.first.last.emit({ type: 'closed', error: new Error('gone') });
    expect(call.events.at(-1)).toMatchObject({ type: 'audio-lost', fromMs: 0, lostMs: 5_000 });
  });
});

/** What goes wrong with the first recogniser's session, or its next one. */
const mishap = fc.constantFrom('nothing', 'closes', 'mute', 'slow', 'reconnects', 'never-ready');
const turn = fc.record({ words: fc.integer({ min: 1, max: 8 }), mishap, finalMs: fc.integer({ min: 20, max: 1_000 }) });

it('loses no word, says none twice, and numbers finals in order, whatever happens to one of two recognisers', () => {
  fc.assert(
    fc.property(fc.array(turn, { minLength: 1, maxLength: 8 }), (turns) => {
      const call = world();
      let word = 0;
      for (const { words, mishap: what, finalMs } of turns) {
        const { first } = call;
        const session = first.last;
        first.script = { readyMs: what === 'never-ready' ? undefined : 50, finalMs };
        // A session that has fallen mute stays so.
        if (session.script.finalMs !== undefined || session.script.readyMs !== undefined)
          session.script = what === 'mute' ? {} : { readyMs: 0, finalMs: what === 'slow' ? finalMs + 700 : finalMs };
        if (what === 'reconnects') session.emit({ type: 'reconnecting', reason: 'reset' });
        say(call, ...Array.from({ length: words }, () => word++));
        call.session.commit();
        if (what === 'closes') session.emit({ type: 'closed', error: new Error('gone') });
        call.clock.advance(finalMs % 2 === 0 ? 100 : 3_000);
        if (what === 'reconnects') session.emit({ type: 'ready' });
      }
      call.clock.advance(6_000);
      expect(call.words()).toBe(Array.from({ length: word }, (_, index) => index).join(' '));
      const segs = call.events.flatMap((event) => (event.type === 'final' ? event.seg : []));
      expect(segs).toEqual([...new Set(segs)].toSorted((one, other) => one - other));
      call.session.abort();
      expect([call.slots.held, call.clock.pendingTimers >= 0]).toEqual([0, true]);
    }),
    { numRuns: thorough(150, 3_000) },
  );
});
