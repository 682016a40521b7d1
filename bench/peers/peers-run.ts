// Rows of the gateway and of Pipecat by turns, and what they come to.
import { described, type Spread, spread } from '../capacity/capacity-run.ts';
import { measureRow, type Row } from '../capacity/row.ts';
import type { Program } from '../capacity/subject.ts';

export const SIDES = ['gateway', 'pipecatSilero', 'pipecatNoVad'] as const;
export type Side = (typeof SIDES)[number];

export interface PeersRunOptions {
  /** Where the compiled children are. */
  readonly folder: string;
  readonly pairs: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** The processes of Pipecat; none where it could not be installed. */
  readonly programs: ReadonlyMap<Side, Program>;
}

/** One side with one number of calls. */
export interface SideEntry {
  /** Processor time for a second of one call, in microseconds; null when every row was void. */
  readonly usPerCallSecond: Spread | null;
  readonly rssPerCallKb: Spread | null;
  /** Gaps of more than 20 ms in the bot's voice, in all rows that count. */
  readonly holes: number;
  readonly void: number;
}

/** How a row went: `unmeasured` when the machine or the generator spoilt it, `failed` when calls were lost or audio differed. */
export type Outcome = 'carried' | 'holes' | 'failed' | 'unmeasured';

export interface Climb {
  /** The last step without a hole, 0 when even the first had one, null when the first could not be measured. */
  readonly calls: number | null;
  /** What the step after that had; `steps` when there was none. */
  readonly endedBy: Exclude<Outcome, 'carried'> | 'steps';
}

/** Rows of one step: a hole or a busy machine may be chance once. */
const TRIES = 2;

export class PeersRun {
  readonly rows: Row[] = [];
  readonly #options: PeersRunOptions;

  constructor(options: PeersRunOptions) {
    this.#options = options;
  }

  /** Those that can be measured here. */
  get sides(): readonly Side[] {
    return SIDES.filter((side) => side === 'gateway' || this.#options.programs.has(side));
  }

  /** All sides by turns, with the same number of calls. @returns the rows of each turn */
  async compare(calls: number): Promise<readonly (readonly Row[])[]> {
    const turns: (readonly Row[])[] = [];
    for (let pair = 0; pair < this.#options.pairs; pair += 1) {
      const rows: Row[] = [];
      for (const side of pair % 2 === 0 ? this.sides : this.sides.toReversed()) rows.push(await this.#run(side, calls));
      turns.push(rows);
    }
    return turns;
  }

  /** How many calls one core carries without a hole. */
  async climb(side: Side, steps: readonly number[]): Promise<Climb> {
    return await climb(steps, async (calls) => outcomeOf(await this.#run(side, calls)));
  }

  async #run(side: Side, calls: number): Promise<Row> {
    const { folder, warmUpMs, measureMs, programs } = this.#options;
    const program = programs.get(side);
    const process = program === undefined ? {} : { program };
    const row = await measureRow({ folder, subject: side, workload: 'W2', calls, warmUpMs, measureMs, ...process });
    this.rows.push(row);
    console.error(described(row));
    return row;
  }
}

/** Takes one step after the other until one fails every try. */
export async function climb(steps: readonly number[], run: (calls: number) => Promise<Outcome>): Promise<Climb> {
  let carried: number | null = null;
  for (const calls of steps) {
    const outcomes: Outcome[] = [];
    while (outcomes.length < TRIES && !outcomes.includes('carried')) outcomes.push(await run(calls));
    if (!outcomes.includes('carried')) {
      const told = outcomes.find((outcome) => outcome === 'holes' || outcome === 'failed') ?? 'unmeasured';
      return { calls: carried ?? (told === 'unmeasured' ? null : 0), endedBy: told };
    }
    carried = calls;
  }
  return { calls: carried, endedBy: 'steps' };
}

export function outcomeOf({ unmeasured, void: faults, holes }: Pick<Row, 'unmeasured' | 'void' | 'holes'>): Outcome {
  if (unmeasured.length > 0) return 'unmeasured';
  if (faults.length > 0) return 'failed';
  return holes > 0 ? 'holes' : 'carried';
}

type RowFigures = Pick<Row, 'usPerCallSecond' | 'rssPerCallKb' | 'holes' | 'void'>;

/** @returns null where there is no row: the side could not be measured here */
export function sideEntry(rows: readonly RowFigures[]): SideEntry | null {
  if (rows.length === 0) return null;
  const counted = rows.filter((row) => row.void.length === 0);
  return {
    usPerCallSecond: spread(counted.map(({ usPerCallSecond }) => usPerCallSecond)),
    rssPerCallKb: spread(counted.map(({ rssPerCallKb }) => rssPerCallKb)),
    holes: counted.reduce((sum, { holes }) => sum + holes, 0),
    void: rows.length - counted.length,
  };
}

/** The gateway's processor time over another side's, turn by turn; a turn in which either row is void does not count. */
export function cpuRatio(
  turns: readonly (readonly Pick<Row, 'subject' | 'usPerCallSecond' | 'void'>[])[],
  side: Side,
): Spread | null {
  const ratios = turns.flatMap((rows) => {
    const [gateway, other] = (['gateway', side] as const).map((name) => rows.find(({ subject }) => subject === name));
    if (gateway?.void.length !== 0 || other?.void.length !== 0) return [];
    return [gateway.usPerCallSecond / other.usPerCallSecond];
  });
  return spread(ratios);
}
