// How often who answered a call is taken for somebody else. Run: npm run bench -- answered [--json] [--human ../shared/audio/human]
import { printDocument, quantiles, readOptions, shareOf } from '../document.ts';
import { HUMAN_FOLDER } from '../recordings.ts';
import { type Judged, firstSoundMs, judge, opinionAt } from './judge.ts';
import { openings } from './openings.ts';

const AT_MS = [800, 2_000, 5_000];
const all = await openings(readOptions({ human: HUMAN_FOLDER }).human);
printDocument({
  openings: all.length,
  human: all.filter(({ human }) => human).length,
  of: tally(all.map(({ by, language, human }) => `${human ? 'human ' : ''}${language} ${by}`)),
  withWords: resultOf(true),
  soundAlone: resultOf(false),
});

/** Machines and people are told apart; a machine that is taken for another one is wrong only in `rightMachine`. */
function resultOf(withWords: boolean) {
  const judged = all.map((opening, index) => judge(opening, withWords, index + 1));
  const people = judged.filter(({ opening }) => opening.by === 'person');
  const machines = judged.filter(({ opening }) => isMachine(opening.by));
  const at = [...AT_MS, 'end' as const].map((ms) => {
    const opinion = (one: Judged) =>
      opinionAt(one, (firstSoundMs(one.opening) ?? 0) + (ms === 'end' ? Number.POSITIVE_INFINITY : ms));
    return {
      ms,
      machineOfPerson: shareOf(people, (one) => isMachine(opinion(one))),
      personOfMachine: shareOf(machines, (one) => opinion(one) === 'person'),
      personOfPerson: shareOf(people, (one) => opinion(one) === 'person'),
      rightMachine: shareOf(machines, (one) => opinion(one) === one.opening.by),
    };
  });
  const waits = (some: readonly Judged[]) =>
    some.flatMap((one) => (one.greetMs === undefined ? [] : [one.greetMs - saidUntil(one)]));
  const hellos = people.filter(({ opening: { said } }) => said[0] !== undefined && said[0].toMs - said[0].fromMs <= 1_000);
  return {
    at,
    // From the end of the first thing that a person said to the decision to greet; a hello lasts a second at most.
    everMachineOfPerson: shareOf(people, ({ opinions }) => opinions.some(({ by }) => isMachine(by))),
    greetingMs: quantiles(waits(people)),
    helloMs: quantiles(waits(hellos)),
    neverGreeted: shareOf(people, ({ greetMs }) => greetMs === undefined),
    talkedOver: shareOf(people, (one) => one.greetMs !== undefined && one.greetMs < saidUntil(one)),
    greetedMachines: shareOf(machines, ({ greetMs }) => greetMs !== undefined),
    wrongAtEnd: tally(judged.filter(isWrong).map((one) => `${one.opening.by} as ${endOpinion(one) ?? 'unsure'}`)),
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

function tally(keys: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const key of keys) counts[key] = (counts[key] ?? 0) + 1;
  return counts;
}
