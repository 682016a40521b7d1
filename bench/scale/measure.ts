// `npm run bench -- scale [--json] [--seeds 3]`: what the choices of balancer and front do to a fleet of gateways, simulated; see bench/scale/README.md.
import { parseArgs } from 'node:util';
import { type Choices, type Outcome, type Scenario, simulate } from './simulation.ts';

const { values } = parseArgs({ options: { json: { type: 'boolean', default: false }, seeds: { type: 'string', default: '3' } } });

/** The busy hour of a million calls a day on six machines of eight processes, as in docs/scale.md. */
const busyHour = {
  gateways: [8, 8, 8, 8, 8, 8],
  maximumPerProcess: 200,
  peakPerSecond: 33.3,
  meanCallSeconds: 180,
  seconds: 3_600,
} satisfies Omit<Scenario, 'seed'>;
const today: Choices = { balancer: 'round-robin', front: 'fewest', asksPeers: 2, streams: 'balanced' };
const burst = { fromSeconds: 1_500, toSeconds: 1_800, times: 2 };
const unequal = { ...busyHour, gateways: [8, 8, 8, 8, 8, 4], maximumPerProcess: 170 };
const tight = { ...busyHour, maximumPerProcess: 150 };

const cases: readonly { readonly name: string; readonly scenario: Omit<Scenario, 'seed'>; readonly choices: Partial<Choices> }[] =
  [
    ...(['round-robin', 'random', 'two', 'least'] as const).map((balancer) => ({
      name: `busy hour, ${balancer}`,
      scenario: busyHour,
      choices: { balancer },
    })),
    ...(['fewest', 'two', 'random', 'reported'] as const).map((front) => ({
      name: `busy hour with a burst, front ${front}`,
      scenario: { ...busyHour, burst },
      choices: { front },
    })),
    { name: 'busy hour, streams to their own gateway', scenario: busyHour, choices: { streams: 'own-address' } },
    ...[0, 1, 2].flatMap((asksPeers) =>
      (['round-robin', 'two'] as const).map((balancer) => ({
        name: `one machine of half the size, ${balancer}, ${asksPeers} asked`,
        scenario: unequal,
        choices: { balancer, asksPeers },
      })),
    ),
    ...[200, 250, 300, 1_000].map((maximumPerProcess) => ({
      name: `twice as many calls for five minutes, ${maximumPerProcess} a process`,
      scenario: { ...busyHour, burst, maximumPerProcess },
      choices: {},
    })),
    ...(['balanced', 'own-address'] as const).map((streams) => ({
      name: `a gateway dies, ${streams} streams`,
      scenario: { ...busyHour, deathAtSeconds: 1_800 },
      choices: { streams },
    })),
    ...[0, 2].map((asksPeers) => ({
      name: `a gateway dies, little room, ${asksPeers} asked`,
      scenario: { ...tight, deathAtSeconds: 1_800 },
      choices: { asksPeers },
    })),
    ...[60, 600, 3_600].map((drainSeconds) => ({
      name: `rolling restart, drained for ${drainSeconds} s at most`,
      scenario: { ...busyHour, seconds: 10_800, restart: { fromSeconds: 300, drainSeconds, bootSeconds: 20 } },
      choices: {},
    })),
  ];

const seeds = Array.from({ length: Number(values.seeds) }, (_, index) => index + 1);
const rows = cases.map(({ name, scenario, choices }) => {
  const all = { ...today, ...choices };
  const outcomes = seeds.map((seed) => simulate({ ...scenario, seed }, all));
  process.stderr.write(`${name}\n`);
  return { name, choices: all, ...averaged(outcomes) };
});
if (values.json) process.stdout.write(`${JSON.stringify({ seeds: seeds.length, rows })}\n`);
else console.table(rows.map(({ choices, ...row }) => ({ ...row, asksPeers: choices.asksPeers })));

/** Means over the seeds, rounded. */
function averaged(outcomes: readonly Outcome[]) {
  const of = (key: keyof Outcome, digits = 0): number => {
    const total = outcomes.reduce((sum, outcome) => sum + (outcome[key] ?? Number.NaN), 0);
    return Math.round((total / outcomes.length) * 10 ** digits) / 10 ** digits;
  };
  return {
    calls: of('calls'),
    refused: of('refused'),
    gatewayOverMean: of('gatewayOverMean', 2),
    processOverMean: of('processOverMean', 2),
    relayedShare: of('relayedShare', 2),
    relayCore: of('relayCore', 2),
    moved: of('moved'),
    lost: of('lost'),
    reattached: of('reattached'),
    restartSeconds: outcomes.every(({ restartSeconds }) => restartSeconds === undefined) ? null : of('restartSeconds'),
    cut: of('cut'),
  };
}
