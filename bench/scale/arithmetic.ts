// What a day of calls takes: `npx tsx bench/scale/arithmetic.ts [--calls-per-day 1000000 …]`; `--help` lists the assumptions. Prints the tables of docs/scale.md.
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { ASSUMED, type Assumptions, type Load, MEASURED, workOut } from './load.ts';

const FLAGS = {
  'calls-per-day': 'callsPerDay',
  'busy-hour-share': 'busyHourShare',
  'mean-seconds': 'meanSeconds',
  'seconds-per-turn': 'secondsPerTurn',
  'recorded-share': 'recordedShare',
  'keep-days': 'keepDays',
  'carrier-requests': 'carrierRequests',
  deliveries: 'deliveries',
  'machine-cores': 'machineCores',
  'slots-per-key': 'slotsPerKey',
} as const satisfies Record<string, keyof Assumptions>;

const MEANINGS: Readonly<Record<keyof Assumptions, string>> = {
  callsPerDay: 'calls a day',
  busyHourShare: 'share of them that begins in the busiest hour',
  meanSeconds: 'mean length of a call, in seconds',
  secondsPerTurn: 'seconds from one turn to the next',
  recordedShare: 'share of calls that is recorded',
  keepDays: 'days that calls and recordings are kept',
  carrierRequests: 'requests of the carrier a call: webhook, status, next document',
  deliveries: 'webhook deliveries to endpoints a call',
  machineCores: 'cores of a machine, one of them for its front',
  slotsPerKey: 'concurrent requests that one key of the speech platform allows',
};

const PRICES = {
  'price-core-hour': 'a core for an hour',
  'price-gb-memory-hour': 'a gigabyte of memory for an hour',
  'price-tb-block-month': 'a terabyte of database disk for a month',
  'price-tb-object-month': 'a terabyte in the bucket for a month',
  'price-gb-out': 'a gigabyte sent to the carriers',
} as const;
export type Prices = Readonly<Partial<Record<keyof typeof PRICES, number>>>;

/** Three significant digits; whole numbers from a thousand on. */
export function shown(value: number): string {
  if (value >= 1_000) return Math.round(Number(value.toPrecision(3))).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** The tables of docs/scale.md, as Markdown. */
export function tablesOf(assumed: Assumptions, prices: Prices = {}): string {
  const load = workOut(assumed);
  return [assumptionsTable(assumed), measuredTable(), loadTable(load), costTable(assumed, load, prices)].join('\n\n');
}

function assumptionsTable(assumed: Assumptions): string {
  const rows = Object.entries(FLAGS).map(([flag, key]) => [MEANINGS[key], `\`--${flag}\``, String(assumed[key])]);
  return table(['assumed', 'flag', 'value'], rows);
}

function measuredTable(): string {
  const rows = Object.values(MEASURED).map(({ what, value, unit, from }) => [what, shown(value), unit, from]);
  return table(['measured', 'value', 'unit', 'from'], rows);
}

function loadTable(load: Load): string {
  const percent = (share: number): string => `${shown(100 * share)} %`;
  const { json, binary } = load;
  return table(
    ['in the busy hour', 'value', 'how'],
    [
      ['call starts a second', shown(load.startsPerSecond), 'calls a day x busy-hour share / 3,600'],
      ['calls at once', shown(load.callsAtOnce), "starts a second x mean length (Little's law)"],
      ['places, so that 1 call in 1,000 finds none', shown(load.places), 'Erlang B'],
      ['turns a second', shown(load.turnsPerSecond), 'calls at once / seconds a turn'],
      ['carrier requests a second', shown(load.carrierRequestsPerSecond), 'starts x requests a call'],
      ['sockets', shown(load.sockets), 'carrier, recogniser, synthesizer: 3 a call'],
      ['recogniser slots, and as many of the synthesizer', shown(load.places), 'a place each'],
      ['keys of the speech platform', shown(load.keys), 'places / slots a key'],
      [
        'media messages in, out, a second',
        `${shown(json.messagesIn)}, ${shown(json.messagesOut)}`,
        '50 in; 10 out and 4.4 marks while the bot speaks, half of the time',
      ],
      [
        'JSON and base64: MB a second in, out',
        `${shown(json.megabytesIn)}, ${shown(json.megabytesOut)}`,
        '380 and 1,160 bytes a message, 74 of TLS and TCP',
      ],
      [
        'binary frames: MB a second in, out',
        `${shown(binary.megabytesIn)}, ${shown(binary.megabytesOut)}`,
        '168 and 804 bytes a message, 74 of TLS and TCP',
      ],
      ['gateway cores', shown(load.gatewayCores), 'calls x cost of a call-second / 60 %'],
      [
        '… for relayed sockets, where streams come to any gateway',
        shown(load.relayCores),
        'calls x share of other machines x cost of a relay / 60 %',
      ],
      ['media processes', shown(load.processes), 'places / calls on 60 % of a core'],
      ['machines', shown(load.machines), 'processes / (cores - 1), and one that may be away'],
      ['gateway memory, GB', shown(load.memoryGb), 'places x memory of a call, and that of processes and fronts'],
      ['worker cores', shown(load.workerCores), 'minutes recorded x (analysis and Opus) / 60 %'],
      [
        'Redis: scripts a second',
        shown(load.redisScriptsPerSecond),
        'claim, spent id, marks of a webhook, two slots taken and given, rate, release; a look-up a request; heartbeats; looks whether it was emptied',
      ],
      ['Redis: share of one core, shared state', percent(load.redisStateShare), 'scripts x cost'],
      ['Redis: jobs a second', shown(load.redisJobsPerSecond), 'analysis, compression, deliveries'],
      ['Redis: share of one core, jobs', percent(load.redisJobsShare), 'jobs x cost'],
      ['Redis: memory, MB', shown(load.redisMb), 'live calls, and 100,000 done jobs of three queues'],
      [
        'PostgreSQL: rows a second, a day',
        `${shown(load.rowsPerSecond)}, ${shown(load.rowsPerDay)}`,
        'call, leg, attachment, timeline, analysis, two keys, turns, deliveries',
      ],
      [
        'PostgreSQL: GB a day of rows, of indexes',
        `${shown(load.rowGbPerDay)}, ${shown(load.indexGbPerDay)}`,
        'bytes a call and a turn',
      ],
      ['PostgreSQL: WAL, MB a second, GB a day', `${shown(load.walMbPerSecond)}, ${shown(load.walGbPerDay)}`, 'the same'],
      ['PostgreSQL: TB kept', shown(load.storeTb), 'GB a day x days'],
      [
        'recordings, GB a day: WAV, FLAC, Opus',
        [load.wavGbPerDay, load.flacGbPerDay, load.opusGbPerDay].map(shown).join(', '),
        'hours recorded x MB an hour',
      ],
      ['recordings, TB kept as Opus', shown(load.opusTb), 'GB a day x days'],
      ['deliveries a second', shown(load.deliveriesPerSecond), 'starts x deliveries a call'],
      [
        'log lines a second, GB a day',
        `${shown(load.logLinesPerSecond)}, ${shown(load.logGbPerDay)}`,
        '5 a call, 1 a turn and a job; 320 bytes a line (estimated)',
      ],
    ],
  );
}

function costTable(assumed: Assumptions, load: Load, prices: Prices): string {
  const hours = 730;
  const cores = load.machines * assumed.machineCores;
  const gigabytesOut = (load.json.megabytesOut / load.callsAtOnce) * assumed.callsPerDay * assumed.meanSeconds * (30.4 / 1e3);
  const rows: readonly (readonly [string, string, number, keyof Prices])[] = [
    ['gateways, core-hours', 'machines x cores x 730', cores * hours, 'price-core-hour'],
    ['workers, core-hours', 'processor time of a day x 30.4 / 60 %', (load.workerHours * 30.4) / 0.6, 'price-core-hour'],
    ['gateway memory, GB-hours', 'GB x 730', load.memoryGb * hours, 'price-gb-memory-hour'],
    ['database disk, TB-months', 'TB kept', load.storeTb, 'price-tb-block-month'],
    ['bucket, TB-months', 'TB kept as Opus', load.opusTb, 'price-tb-object-month'],
    ['sent to carriers, GB', 'bytes out of a call-second x seconds', gigabytesOut, 'price-gb-out'],
  ];
  return table(
    ['in a month', 'how', 'units', 'price flag', 'cost'],
    rows.map(([name, how, units, flag]) => {
      const price = prices[flag];
      return [name, how, shown(units), `\`--${flag}\``, price === undefined ? 'units x your price' : shown(units * price)];
    }),
  );
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}

function main(): void {
  const names = [...Object.keys(FLAGS), ...Object.keys(PRICES)];
  const options: Record<string, { readonly type: 'string' | 'boolean' }> = { help: { type: 'boolean' } };
  for (const name of names) options[name] = { type: 'string' };
  const { values } = parseArgs({ options });
  if (values['help'] === true) {
    for (const [flag, key] of Object.entries(FLAGS))
      process.stdout.write(`--${flag}  ${MEANINGS[key]}; ${ASSUMED[key]} when absent\n`);
    for (const [flag, meaning] of Object.entries(PRICES)) process.stdout.write(`--${flag}  price of ${meaning}\n`);
    return;
  }
  const given = (name: string): number | undefined => {
    const text = values[name];
    if (typeof text !== 'string') return undefined;
    const value = Number(text);
    if (text.trim() === '' || !Number.isFinite(value) || value < 0)
      throw new RangeError(`--${name} is a number of 0 or more, not ${text}`);
    return value;
  };
  const assumed = Object.fromEntries(Object.entries(FLAGS).map(([flag, key]) => [key, given(flag) ?? ASSUMED[key]]));
  const prices: Prices = Object.fromEntries(
    Object.keys(PRICES).flatMap((flag) => {
      const price = given(flag);
      return price === undefined ? [] : [[flag, price]];
    }),
  );
  process.stdout.write(`${tablesOf({ ...ASSUMED, ...assumed }, prices)}\n`);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) main();
