import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { noise, seededRandom, sine } from '../../../../src/audio/tone.ts';
import { type AnswerEvent, type AnswerState, answered, stepAnswer } from '../../../../src/call/answering/classifier.ts';
import { FrameSounds } from '../../../../src/call/answering/frame-sound.ts';
import { greetingIsDue } from '../../../../src/call/answering/answer-plan.ts';
import { cuesIn } from '../../../../src/call/answering/phrases.ts';
import { ANSWERED_BY, type AnsweredBy } from '../../../../src/config/answered-by.ts';

const TIMES = { decideWithinMs: 2_300, speakFirstMs: 2_000 };
const QUIET = { levelDb: -60, toneHz: 0, secondHz: 0, likeLast: 0, voiced: false, speechLike: 0 };
const VOICE = { levelDb: -22, toneHz: 0, secondHz: 0, likeLast: 0.6, voiced: true, speechLike: 1 };
const MUSIC = { ...VOICE, likeLast: 0.98 };
const tone = (hz: number) => ({ ...QUIET, levelDb: -18, toneHz: hz, likeLast: 1, voiced: true, speechLike: 1 });

/** An answer, written as what is heard one after the other. */
class Line {
  state: AnswerState = answered();
  nowMs = 0;
  #seg = 0;
  readonly opinions: AnsweredBy[] = [];
  /** When the bot would have greeted. */
  greetMs: number | undefined;

  #frames(ms: number, sound: typeof QUIET): this {
    for (let passed = 0; passed < ms; passed += 20) {
      this.nowMs += 20;
      this.take({ type: 'frame', frame: { ...sound, atMs: this.nowMs } });
    }
    return this;
  }

  voice = (ms: number): this => this.#frames(ms, VOICE);
  quiet = (ms: number): this => this.#frames(ms, QUIET);
  music = (ms: number): this => this.#frames(ms, MUSIC);
  tone = (hz: number, ms: number): this => this.#frames(ms, tone(hz));

  says(text: string): this {
    this.#seg += 1;
    return this.take({ type: 'final', atMs: this.nowMs, seg: this.#seg, text });
  }

  take(event: AnswerEvent): this {
    const before = this.state.opinion;
    this.state = stepAnswer(this.state, event);
    const { opinion } = this.state;
    if (opinion !== undefined && opinion !== before) this.opinions.push(opinion.by);
    if (this.greetMs === undefined && greetingIsDue(this.state, TIMES)) this.greetMs = this.nowMs;
    return this;
  }

  get by(): AnsweredBy | undefined {
    return this.state.opinion?.by;
  }
}

describe('who answered', () => {
  it.each([
    { what: 'a hello and quiet', heard: (line: Line) => line.quiet(400).voice(500).quiet(400), by: 'person' },
    { what: 'nobody', heard: (line: Line) => line.quiet(2_000), by: 'silence' },
    { what: 'one word that is recognised', heard: (line: Line) => line.voice(400).says('hello').quiet(400), by: 'person' },
    {
      what: 'a shop that says its name and asks',
      heard: (line: Line) => line.voice(3_600).says('miller electronics this is anne how can i help').quiet(700),
      by: 'person',
    },
    { what: 'a question who it is', heard: (line: Line) => line.voice(1_500).says('हैलो कौन बोल रहा है').quiet(500), by: 'person' },
    { what: 'unbroken speech', heard: (line: Line) => line.voice(8_000), by: 'mailbox' },
    { what: 'a greeting of a mailbox', heard: (line: Line) => line.voice(2_000).says('please leave a message'), by: 'mailbox' },
    { what: 'the same in Hindi', heard: (line: Line) => line.voice(2_000).says('कृपया बीप के बाद अपना संदेश छोड़ें'), by: 'mailbox' },
    { what: 'speech and a beep', heard: (line: Line) => line.voice(3_000).quiet(500).tone(1_000, 400).quiet(100), by: 'mailbox' },
    {
      what: 'a mailbox that is full',
      heard: (line: Line) => line.voice(2_000).says('sorry the mailbox is full'),
      by: 'mailbox-full',
    },
    {
      what: 'the screening of a phone',
      heard: (line: Line) =>
        line.voice(3_000).says('hi if you record your name and reason for calling i will see if this person is available'),
      by: 'screening',
    },
    {
      what: 'the call screen of another phone',
      heard: (line: Line) => line.voice(3_000).says('the person you are calling is using a screening service from google'),
      by: 'screening',
    },
    { what: 'a menu', heard: (line: Line) => line.voice(3_000).says('for sales press one for support press two'), by: 'ivr' },
    { what: 'a menu in Hindi', heard: (line: Line) => line.voice(3_000).says('हिंदी के लिए एक दबाएँ'), by: 'ivr' },
    { what: 'a queue', heard: (line: Line) => line.voice(3_000).says('your call is important to us'), by: 'hold' },
    { what: 'music', heard: (line: Line) => line.music(6_000), by: 'hold' },
    { what: 'a fax that answers', heard: (line: Line) => line.quiet(500).tone(2_100, 1_500), by: 'fax' },
    {
      what: 'a fax that calls',
      heard: (line: Line) => line.quiet(500).tone(1_100, 500).quiet(3_000).tone(1_100, 500).quiet(200),
      by: 'fax',
    },
    { what: 'an announcement', heard: (line: Line) => line.voice(2_500).says('the number is switched off'), by: 'bot' },
    {
      what: 'the three tones before an announcement',
      heard: (line: Line) => line.tone(950, 320).quiet(20).tone(1_400, 320).quiet(20).tone(1_800, 320).quiet(200),
      by: 'bot',
    },
    {
      what: 'a fax by the carrier',
      heard: (line: Line) => line.take({ type: 'witness', atMs: 0, witness: 'fax' }).quiet(40),
      by: 'fax',
    },
  ] as const)('is $by for $what', ({ heard, by }) => {
    expect(heard(new Line()).by).toBe(by);
  });

  it.each([
    { what: 'a click', heard: (line: Line) => line.voice(60).quiet(500) },
    { what: 'ringing before the answer', heard: (line: Line) => line.tone(440, 1_000).quiet(1_000).tone(440, 1_000).quiet(500) },
    { what: 'a sentence that goes on', heard: (line: Line) => line.voice(2_500) },
    {
      what: 'a doubt of the carrier',
      heard: (line: Line) => line.take({ type: 'witness', atMs: 0, witness: 'unknown' }).quiet(500),
    },
  ])('is not known yet after $what', ({ heard }) => {
    expect(heard(new Line()).by).toBeUndefined();
  });

  it('changes from a person to a mailbox, and back to a person who speaks up', () => {
    const line = new Line().voice(600).quiet(500).voice(1_000).says('leave your message after the tone').quiet(300);
    line.tone(900, 300).quiet(2_000).voice(500).says('hello i am here').quiet(600);
    expect(line.opinions).toEqual(['person', 'mailbox', 'person']);
  });

  it('lets a person who was greeted talk for as long as they like, and speak of messages', () => {
    const line = new Line().voice(500).quiet(500).take({ type: 'bot', atMs: 1_000, speaks: true });
    line.quiet(2_000).take({ type: 'bot', atMs: 3_000, speaks: false });
    line.voice(800).quiet(900).voice(1_500).quiet(900).voice(9_000).says('she said i should leave a message for you');
    expect([line.by, line.opinions]).toEqual(['person', ['person']]);
  });

  it('greets after a short quiet, never into speech, and in the end also while uncertain', () => {
    expect(new Line().quiet(300).voice(500).quiet(600).greetMs).toBe(800 + 320);
    const long = new Line().voice(4_000);
    expect(long.greetMs).toBeUndefined();
    expect(long.quiet(600).greetMs).toBe(4_520);
    expect(new Line().quiet(3_000).greetMs).toBe(2_000);
  });
});

describe('the phrases of who answers', () => {
  it.each([
    ['Leave us a message!', 'mailbox'],
    ["I can't come to the phone right now", 'mailbox'],
    ['The voice mailbox is full.', 'mailbox-full'],
    ["Please state your name and why you're calling", 'screening'],
    ['Press 2 for billing', 'ivr'],
    ['All our agents are busy', 'hold'],
    ['I am the virtual assistant of Green Dental', 'bot'],
    ['Who is this?', 'person'],
    ['Hello? Hello?', 'person'],
    ['हाँ जी', 'person'],
    ['आपकी कॉल हमारे लिए महत्वपूर्ण है', 'hold'],
  ] as const)('hear in %j that it is a %s', (text, by) => {
    const found = cuesIn(text);
    expect(
      found.reduce((best, cue) => (cue.weight > best.weight ? cue : best), found[0] ?? { by: undefined, weight: 0 }).by,
    ).toBe(by);
  });

  it.each(['I would like that', 'yes on Tuesday', 'मंगलवार को'])('hear no machine in %j', (text) => {
    expect(cuesIn(text).filter(({ by }) => by !== 'person')).toEqual([]);
  });
});

describe('the sound of a frame', () => {
  const measured = (pcm: Int16Array) => {
    const sounds = new FrameSounds();
    return Array.from({ length: Math.floor(pcm.length / 160) }, (_, at) =>
      sounds.measure(pcm.subarray(at * 160, at * 160 + 160)),
    );
  };

  it.each([440, 850, 1_000, 1_100, 1_400, 2_100])('has a tone of %d Hz for what it is, above noise too', (hz) => {
    const pure = sine(hz, 200, 8_000, 0.3);
    const hiss = noise(200, 8_000, 0.04, seededRandom(hz));
    for (const { toneHz, secondHz } of measured(pure.map((sample, at) => sample + (hiss[at] ?? 0)))) {
      expect(Math.abs(toneHz - hz)).toBeLessThan(6);
      expect(secondHz).toBe(0);
    }
  });

  it('hears two tones, and none in noise', () => {
    const two = sine(480, 100, 8_000, 0.2).map((sample, at) => sample + (sine(1_000, 100, 8_000, 0.2)[at] ?? 0));
    expect(measured(two)[2]).toMatchObject({ toneHz: expect.closeTo(480, -1), secondHz: expect.closeTo(1_000, -1) });
    expect(measured(noise(400, 8_000, 0.3, seededRandom(1))).every(({ toneHz }) => toneHz === 0)).toBe(true);
  });
});

describe('whatever is heard', () => {
  const event = fc.oneof(
    {
      weight: 20,
      arbitrary: fc.record({
        kind: fc.constantFrom('voice', 'quiet', 'music'),
        ms: fc.integer({ min: 1, max: 60 }).map((n) => 20 * n),
      }),
    },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('tone' as const),
        ms: fc.integer({ min: 1, max: 40 }).map((n) => 20 * n),
        hz: fc.integer({ min: 200, max: 3_000 }),
      }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('words' as const),
        text: fc.constantFrom(
          'hello',
          'leave a message',
          'press one for sales',
          'your call is important',
          'who is this',
          'नमस्ते',
          'x '.repeat(2_000),
        ),
      }),
    },
    {
      weight: 1,
      arbitrary: fc.record({
        kind: fc.constant('witness' as const),
        witness: fc.constantFrom('person', 'machine', 'machine-done', 'fax', 'unknown'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('back' as const), ms: fc.integer({ min: 0, max: 5_000 }) }) },
  );

  const play = (line: Line, one: typeof event extends fc.Arbitrary<infer Value> ? Value : never): Line => {
    switch (one.kind) {
      case 'voice':
        return line.voice(one.ms);
      case 'quiet':
        return line.quiet(one.ms);
      case 'music':
        return line.music(one.ms);
      case 'tone':
        return line.tone(one.hz, one.ms);
      case 'words':
        return line.says(one.text);
      case 'witness':
        return line.take({ type: 'witness', atMs: line.nowMs, witness: one.witness });
      case 'back':
        return line.take({ type: 'frame', frame: { ...VOICE, atMs: line.nowMs - one.ms } });
    }
  };

  it('keeps its clock, its shares and its size in bounds', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const line = new Line();
        let lastMs = 0;
        for (const one of events) {
          play(line, one);
          const { shares, hearing, opinion } = line.state;
          expect(hearing.atMs).toBeGreaterThanOrEqual(lastMs);
          lastMs = hearing.atMs;
          expect(ANSWERED_BY.reduce((sum, by) => sum + shares[by], 0)).toBeCloseTo(1, 6);
          expect(opinion === undefined || (opinion.atMs <= lastMs && opinion.confidence <= 1)).toBe(true);
        }
        expect(JSON.stringify(line.state).length).toBeLessThan(30_000);
      }),
      { numRuns: 60 },
    );
  });

  it('does not change its mind back and forth when nothing more is heard', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 40 }), (events) => {
        const line = new Line();
        for (const one of events) play(line, one);
        line.quiet(400);
        const before = line.opinions.length;
        line.quiet(8_000);
        // At most one opinion more, of what the quiet itself says.
        expect(line.opinions.length - before).toBeLessThanOrEqual(1);
      }),
      { numRuns: 60 },
    );
  });
});
