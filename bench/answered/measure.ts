// How often who answered a call is taken for somebody else. Run: npm run bench -- answered [--json] [--human ../shared/audio/human]
import { parseArgs } from 'node:util';
import { about } from '../document.ts';
import { type Judged, firstSoundMs, judge, opinionAt } from './judge.ts';
import { openings } from './openings.ts';
import { wilson, type Share } from './wilson.ts';

const { values } = parseArgs({
  options: {
    json: { type: 'boolean', default: false },
    human: { type: 'string', default: new URL('../../../shared/audio/human', import.meta.url).pathname },
    /** The texts and voices that the classifier was tuned on, to see how much it was. */
    tuning: { type: 'boolean', default: false },
  },
});

const AT_MS = [800, 2_000, 5_000];
const all = await openings(values.tuning ? 'tuning' : 'test', values.human);
const conditions = { withWords: true, soundAlone: false } as const;
const measured = Object.fromEntries(Object.entries(conditions).map(([name, withWords]) => [name, resultOf(withWords)]));
const counts = groupBy(all, ({ by, language, human }) => `${human ? 'human ' : ''}${language} ${by}`);
const document = {
  ...about(),
  half: values.tuning ? 'tuning' : 'test',
  openings: all.length,
  human: all.filter(({ human }) => human).length,
  of: Object.fromEntries([...counts].map(([what, some]) => [what, some.length])),
  ...measured,
};
process.stdout.write(`${JSON.stringify(document, undefined, values.json ? undefined : 2)}\n`);

interface Result {
  readonly at: readonly {
    readonly ms: number | 'end';
    /** A machine is the opinion, where a person answered. */
    readonly machineOfPerson: Share;
    /** A person is the opinion, where a machine answered. */
    readonly personOfMachine: Share;
    readonly personOfPerson: Share;
    /** The very class, where a machine answered. */
    readonly rightMachine: Share;
  }[];
  /** People who were ever taken for a machine. */
  readonly everMachineOfPerson: Share;
  /** From the end of the first thing that a person said to the decision to greet, in ms. */
  readonly greetingMs: { readonly p50: number; readonly p95: number; readonly most: number; readonly n: number };
  /** The same of those who said no more than a second. */
  readonly helloMs: { readonly p50: number; readonly p95: number; readonly most: number; readonly n: number };
  readonly neverGreeted: Share;
  /** People who were talked to before they had finished. */
  readonly talkedOver: Share;
  readonly greetedMachines: Share;
  /** By what the classifier said of its confidence: how often it was right in saying person, or machine. */
  readonly calibration: readonly { readonly said: string; readonly right: Share }[];
  readonly wrongAtEnd: Readonly<Record<string, number>>;
}

function resultOf(withWords: boolean): Result {
  const judged = all.map((opening, index) => judge(opening, withWords, index + 1));
  const people = judged.filter(({ opening }) => opening.by === 'person');
  const machines = judged.filter(({ opening }) => isMachine(opening.by));
  const share = (of: readonly Judged[], is: (one: Judged) => boolean): Share => wilson(of.filter(is).length, of.length);
  const at = [...AT_MS, 'end' as const].map((ms) => {
    const opinion = (one: Judged) =>
      opinionAt(one, (firstSoundMs(one.opening) ?? 0) + (ms === 'end' ? Number.POSITIVE_INFINITY : ms));
    return {
      ms,
      machineOfPerson: share(people, (one) => isMachine(opinion(one))),
      personOfMachine: share(machines, (one) => opinion(one) === 'person'),
      personOfPerson: share(people, (one) => opinion(one) === 'person'),
      rightMachine: share(machines, (one) => opinion(one) === one.opening.by),
    };
  });
  const waits = (some: readonly Judged[]) =>
    some.flatMap((one) => (one.greetMs === undefined ? [] : [one.greetMs - saidUntil(one)]));
  const hellos = people.filter(({ opening: { said } }) => said[0] !== undefined && said[0].toMs - said[0].fromMs <= 1_000);
  return {
    at,
    everMachineOfPerson: share(people, ({ opinions }) => opinions.some(({ by }) => isMachine(by))),
    greetingMs: quantiles(waits(people)),
    helloMs: quantiles(waits(hellos)),
    neverGreeted: share(people, ({ greetMs }) => greetMs === undefined),
    talkedOver: share(people, (one) => one.greetMs !== undefined && one.greetMs < saidUntil(one)),
    greetedMachines: share(machines, ({ greetMs }) => greetMs !== undefined),
    calibration: calibration(judged),
    wrongAtEnd: Object.fromEntries(
      [...groupBy(judged.filter(isWrong), (one) => `${one.opening.by} as ${endOpinion(one) ?? 'unsure'}`)].map(([what, some]) => [
        what,
        some.length,
      ]),
    ),
  };
}

function isMachine(by: string | undefined): boolean {
  return by !== undefined && by !== 'person' && by !== 'silence';
}

function endOpinion(one: Judged): string | undefined {
  return opinionAt(one, Number.POSITIVE_INFINITY);
}

function isWrong(one: Judged): boolean {
  return endOpinion(one) !== one.opening.by;
}

/** When the first thing that was said was over. */
function saidUntil({ opening: { said } }: Judged): number {
  return said[0]?.toMs ?? 0;
}

function quantiles(numbers: readonly number[]): Result['greetingMs'] {
  const sorted = numbers.map(Math.round).sort((a, b) => a - b);
  const at = (part: number): number => sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
  return { p50: at(0.5), p95: at(0.95), most: at(1), n: sorted.length };
}

function calibration(judged: readonly Judged[]): Result['calibration'] {
  const said = judged.flatMap(({ opening, opinions }) =>
    opinions
      .filter(({ by }) => by !== 'silence')
      .map(({ by, confidence }) => ({ band: Math.floor(confidence * 10) / 10, by, right: by === opening.by })),
  );
  return [...groupBy(said, ({ band, by }) => `${by === 'person' ? 'person' : 'machine'} ${band.toFixed(1)}`)]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([band, some]) => ({ said: band, right: wilson(some.filter(({ right }) => right).length, some.length) }));
}

function groupBy<Item>(items: readonly Item[], keyOf: (item: Item) => string): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}
