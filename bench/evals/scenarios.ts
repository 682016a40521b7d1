// Forty callers of the clinic: what they want, how they say it, and what the bot has to have understood at the end.
import { type ScenarioDocument, suiteDocument } from '../../src/rehearsal/evals/suite-schema.ts';

/** A Monday. */
export const AT = '2026-11-23T09:00+05:30';

const DAYS = {
  Tuesday: '2026-11-24',
  Wednesday: '2026-11-25',
  Thursday: '2026-11-26',
  Friday: '2026-11-27',
  Saturday: '2026-11-28',
  tomorrow: '2026-11-24',
} as const;
const TIMES = {
  'half past nine': '09:30',
  "ten o'clock": '10:00',
  'quarter past ten': '10:15',
  'half past eleven': '11:30',
  noon: '12:00',
  'three in the afternoon': '15:00',
  'four in the afternoon': '16:00',
} as const;

type Day = keyof typeof DAYS;
type Time = keyof typeof TIMES;

const dayOf = (index: number): Day => Object.keys(DAYS)[index % Object.keys(DAYS).length] as Day;
const timeOf = (index: number): Time => Object.keys(TIMES)[(index * 3) % Object.keys(TIMES).length] as Time;

/** Answers each question as often as the bot asks it; says no to values that are not theirs, and hangs up where nothing helps. */
function bookingTurns(opening: string, day: Day, time: Time): object[] {
  return [
    { when: { step: 'welcome' }, say: opening, times: 3 },
    { when: { asks: 'day' }, say: day, times: 3 },
    { when: { asks: 'time' }, say: time, times: 3 },
    { when: { step: 'check', variables: { day: DAYS[day], time: TIMES[time] } }, say: 'yes please', times: 3 },
    { when: { step: 'check' }, say: 'no', times: 2 },
    { when: { asks: 'reminder' }, press: '2', times: 3 },
  ];
}

const booked = (day: Day, time: Time): object => ({
  end: 'appointment-booked',
  variables: { day: DAYS[day], time: TIMES[time] },
});

function booking(index: number, how: 'asked' | 'one sentence' | 'day first' | 'change'): object {
  const [day, time] = [dayOf(index), timeOf(index)];
  const opening = {
    asked: "I'd like an appointment",
    'one sentence': `I need an appointment on ${day} at ${time}`.replace('on tomorrow', 'tomorrow'),
    'day first': `I want an appointment on ${day}`.replace('on tomorrow', 'tomorrow'),
    change: 'change my appointment',
  }[how];
  return {
    name: `${how} ${index}: ${day}, ${time}`,
    tags: ['booking'],
    caller: { turns: bookingTurns(opening, day, time), otherwise: { hangUp: true } },
    expect: booked(day, time),
  };
}

function cancelling(index: number, keeps: boolean): object {
  return {
    name: `${keeps ? 'keeps' : 'cancels'} ${index}`,
    caller: {
      turns: [
        {
          when: { step: 'welcome' },
          say: index % 2 === 0 ? 'cancel my appointment' : 'I want to cancel my appointment',
          times: 3,
        },
        { when: 'Shall I cancel', say: keeps ? 'no' : 'yes', times: 3 },
        { when: 'anything else', say: 'no', times: 2 },
      ],
      otherwise: { hangUp: true },
    },
    expect: { end: 'finished', ...(keeps ? { neverSteps: ['cancel-it'] } : { steps: ['cancelled'] }) },
  };
}

const scenarios = [
  ...Array.from({ length: 12 }, (_, index) => booking(index, 'asked')),
  ...Array.from({ length: 8 }, (_, index) => booking(index + 12, 'one sentence')),
  ...Array.from({ length: 6 }, (_, index) => booking(index + 20, 'day first')),
  ...Array.from({ length: 6 }, (_, index) => booking(index + 26, 'change')),
  ...Array.from({ length: 4 }, (_, index) => cancelling(index, false)),
  ...Array.from({ length: 4 }, (_, index) => cancelling(index + 4, true)),
];

/** A line of the forty calls. Noise: peak of uniform noise against speech at −20 dBFS. */
export const LINES = {
  clean: {},
  '20 dB': { noise: noisePeak(20) },
  '10 dB': { noise: noisePeak(10) },
  '2 % loss': { loss: 0.02 },
} as const;

/** Uniform noise of this peak has its effective value so far below speech at −20 dBFS. */
function noisePeak(snrDb: number): number {
  return Math.round(Math.sqrt(3) * 10 ** ((-20 - snrDb) / 20) * 1e5) / 1e5;
}

/** The forty scenarios over one line. */
export function scenariosOver(line: (typeof LINES)[keyof typeof LINES]): readonly ScenarioDocument[] {
  const written = { bot: 'clinic', at: AT, scenarios };
  return suiteDocument.parse(written).scenarios.map((scenario) => {
    const { caller } = scenario;
    return { ...scenario, caller: { ...caller, line: { ...caller.line, ...line } } };
  });
}

/** Whether a call ended with values that its caller did not say. */
export function acceptedWrong(scenario: ScenarioDocument, variables: Readonly<Record<string, string>>, end: string): boolean {
  const expected = scenario.expect.variables;
  return (
    end === 'appointment-booked' &&
    expected !== undefined &&
    Object.entries(expected).some(([name, value]) => variables[name] !== value)
  );
}
