/** What a fleet is to carry. Change them by the flags of `arithmetic.ts`. */
export interface Assumptions {
  readonly callsPerDay: number;
  /** Of a day's calls, those that begin in its busiest hour. */
  readonly busyHourShare: number;
  readonly meanSeconds: number;
  readonly secondsPerTurn: number;
  readonly recordedShare: number;
  readonly keepDays: number;
  /** Requests of the carrier for a call: its webhook, its status, the next document. */
  readonly carrierRequests: number;
  /** Deliveries to endpoints for a call. */
  readonly deliveries: number;
  /** Of a machine; one of them is its front's. */
  readonly machineCores: number;
  /** Concurrent requests that one key of the speech platform allows. */
  readonly slotsPerKey: number;
}

export const ASSUMED: Assumptions = {
  callsPerDay: 1_000_000,
  busyHourShare: 0.12,
  meanSeconds: 180,
  secondsPerTurn: 12,
  recordedShare: 1,
  keepDays: 90,
  carrierRequests: 3,
  deliveries: 2,
  machineCores: 8,
  slotsPerKey: 16,
};

/** Measured here or in another bench; each says where. `docs/scale.md` shows the same list. */
export const MEASURED = {
  callUs: { what: 'a call', value: 3_080, unit: 'us a call-second', from: 'bench/capacity/README.md, gateway, W2, 200 calls' },
  callsPerCore: {
    what: 'calls of a process',
    value: 227,
    unit: 'calls on 60 % of a core',
    from: 'bench/capacity/README.md, `calls`',
  },
  callKb: { what: 'memory of a call', value: 169, unit: 'KB', from: 'bench/memory/README.md, 300 calls' },
  idleMb: {
    what: 'memory of a process',
    value: 370,
    unit: 'MB without calls',
    from: 'bench/memory/README.md, settings of the C library',
  },
  relayUs: { what: 'a relayed media socket', value: 1_080, unit: 'us a socket-second', from: 'relay-cost.ts (shared machine)' },
  claimUs: { what: 'claim of a call', value: 69, unit: 'us of Redis', from: 'redis-cost.ts' },
  findUs: { what: "look-up of a call's owner", value: 31, unit: 'us of Redis', from: 'redis-cost.ts' },
  spendUs: { what: 'an id that is used once', value: 46, unit: 'us of Redis', from: 'redis-cost.ts' },
  slotUs: { what: 'a slot', value: 87, unit: 'us of Redis, taken and given', from: 'redis-cost.ts' },
  rateUs: { what: 'a rate', value: 29, unit: 'us of Redis', from: 'redis-cost.ts' },
  releaseUs: { what: 'end of a call', value: 32, unit: 'us of Redis', from: 'redis-cost.ts' },
  heartbeatUs: { what: 'a heartbeat', value: 237, unit: 'us of Redis, 20 members', from: 'redis-cost.ts' },
  jobUs: { what: 'a job', value: 320, unit: 'us of Redis', from: 'redis-cost.ts' },
  jobBytes: { what: 'a done job', value: 2_309, unit: 'bytes of Redis', from: 'redis-cost.ts' },
  liveBytes: { what: 'a live call', value: 465, unit: 'bytes of Redis', from: 'redis-cost.ts' },
  rowBytes: {
    what: 'rows of a call',
    value: 6_377,
    unit: 'bytes',
    from: 'stored-bytes.ts: all tables without turns and analysis',
  },
  turnBytes: {
    what: 'rows of a turn',
    value: 1_545,
    unit: 'bytes',
    from: 'stored-bytes.ts: its row and its part of the timeline',
  },
  analysisBytes: { what: 'analysis of a turn', value: 728, unit: 'bytes', from: 'stored-bytes.ts: the analysis over six turns' },
  indexBytes: { what: 'indexes of a call', value: 8_200, unit: 'bytes', from: 'stored-bytes.ts' },
  turnIndexBytes: { what: 'indexes of a turn', value: 72, unit: 'bytes', from: 'stored-bytes.ts' },
  walBytes: { what: 'WAL of a call', value: 17_300, unit: 'bytes', from: 'stored-bytes.ts' },
  turnWalBytes: { what: 'WAL of a turn', value: 2_052, unit: 'bytes', from: 'stored-bytes.ts' },
  analysisMs: {
    what: 'analysis',
    value: 18.3,
    unit: 'ms a minute of recording',
    from: 'bench/jobs/README.md, worker, `default`',
  },
  opusMs: {
    what: 'compression to Opus',
    value: 370,
    unit: 'ms a minute of recording',
    from: 'docs/operating.md, compressed recordings',
  },
  wavMb: { what: 'recording, WAV', value: 115, unit: 'MB an hour', from: 'docs/operating.md, compressed recordings' },
  flacMb: { what: 'recording, FLAC', value: 31, unit: 'MB an hour', from: 'docs/operating.md, compressed recordings (24 to 38)' },
  opusMb: {
    what: 'recording, Opus',
    value: 11.5,
    unit: 'MB an hour',
    from: 'docs/operating.md, compressed recordings (10 to 13)',
  },
} as const satisfies Record<
  string,
  { readonly what: string; readonly value: number; readonly unit: string; readonly from: string }
>;

/** Messages of one call on the carrier's socket, in a second: 20 ms from the carrier, `call.messageMs` to it while the bot speaks, marks each 450 ms. */
const MESSAGES = { inbound: 50, outbound: 10, marks: 4.4 } as const;
/** Bytes of a message with the WebSocket's header (8 from the carrier, which masks; 4 to it), without TLS and TCP. */
const MESSAGE_BYTES = {
  json: { inbound: 380, outbound: 1_160, marks: 100 },
  binary: { inbound: 168, outbound: 804, marks: 60 },
} as const;
/** TLS 1.3 record, and TCP/IPv4 headers with time stamps, for each message; acknowledgements left out. */
const WIRE_BYTES = 22 + 52;
const CORE_SHARE = 0.6;
const HEARTBEAT_SECONDS = 1.5;
/** Each front and each media process looks whether Redis was emptied; that costs as much as a look-up. */
const LOOKS_PER_SECOND = 2;
/** Done jobs that a queue remembers at most: REMEMBER_DONE of `bull-queue.ts`. */
const REMEMBERED = 100_000;
/** Log lines of a call at info level: answered, started, attached, detached, ended (`observability/events.ts`); a turn and a job have one each. */
const LOG_LINES = 5;
/** Estimated: JSON with ids and times. */
const LOG_LINE_BYTES = 320;
const HOUR_SECONDS = 3_600;

/** Erlang's B formula. @returns the share of calls that find all of so many places taken */
export function refusedShare(erlangs: number, places: number): number {
  let share = 1;
  for (let place = 1; place <= places; place += 1) share = (erlangs * share) / (place + erlangs * share);
  return share;
}

/** @returns the fewest places of which at most this share of calls finds none */
export function placesFor(erlangs: number, mostRefused: number): number {
  let share = 1;
  let places = 0;
  while (share > mostRefused) {
    places += 1;
    share = (erlangs * share) / (places + erlangs * share);
  }
  return places;
}

/** All that follows from the assumptions, in the units of the names. */
export function workOut(assumed: Assumptions) {
  const { callsPerDay, busyHourShare, meanSeconds, secondsPerTurn, recordedShare, machineCores } = assumed;
  const turns = Math.max(1, meanSeconds / secondsPerTurn);
  const startsPerSecond = (callsPerDay * busyHourShare) / HOUR_SECONDS;
  const callsAtOnce = startsPerSecond * meanSeconds;
  const places = placesFor(callsAtOnce, 0.001);
  const perProcess = MEASURED.callsPerCore.value;
  const processes = Math.ceil(places / perProcess);
  // A core of each machine is the front's.
  const processesPerMachine = Math.max(1, machineCores - 1);
  const machines = Math.ceil(processes / processesPerMachine) + 1;
  const jobs = 1 + recordedShare + assumed.deliveries;
  // The stream's token, and three marks by which a replayed webhook is known, with the question for them.
  const spentUs = 4 * MEASURED.spendUs.value + MEASURED.findUs.value;
  const scriptUs = MEASURED.claimUs.value + spentUs + 2 * MEASURED.slotUs.value + MEASURED.releaseUs.value;
  // Each carrier request and a relayed socket look for the call's owner; rates are asked once a call.
  const findUs = assumed.carrierRequests * MEASURED.findUs.value + MEASURED.rateUs.value;
  const heartbeats = machines / HEARTBEAT_SECONDS;
  const looks = (machines + processes) * LOOKS_PER_SECOND;
  // Its cost grows with the members that it lists.
  const heartbeatUs = heartbeats * MEASURED.heartbeatUs.value * Math.max(1, machines / 20);
  const recordedMinutes = (callsPerDay * recordedShare * meanSeconds) / 60;
  const recordedHours = recordedMinutes / 60;
  const rows = 1 + 1 + 1 + 1 + 1 + 2 + turns + assumed.deliveries;
  const rowBytes = MEASURED.rowBytes.value + turns * (MEASURED.turnBytes.value + MEASURED.analysisBytes.value);
  const indexBytes = MEASURED.indexBytes.value + turns * MEASURED.turnIndexBytes.value;
  const walBytes = MEASURED.walBytes.value + turns * (MEASURED.turnWalBytes.value + MEASURED.analysisBytes.value);
  const logLines = LOG_LINES + turns + jobs;
  const gigabytes = (bytesPerCall: number): number => (bytesPerCall * callsPerDay) / 1e9;
  return {
    turns,
    startsPerSecond,
    callsAtOnce,
    places,
    turnsPerSecond: callsAtOnce / secondsPerTurn,
    carrierRequestsPerSecond: startsPerSecond * assumed.carrierRequests,
    sockets: callsAtOnce * 3,
    keys: Math.ceil(places / assumed.slotsPerKey),
    json: mediaOf('json', callsAtOnce),
    binary: mediaOf('binary', callsAtOnce),
    processes,
    machines,
    gatewayCores: (callsAtOnce * MEASURED.callUs.value) / 1e6 / CORE_SHARE,
    relayCores: (callsAtOnce * MEASURED.relayUs.value * (1 - 1 / machines)) / 1e6 / CORE_SHARE,
    memoryGb: (places * MEASURED.callKb.value * 1024 + (processes + machines) * MEASURED.idleMb.value * 1048576) / 1e9,
    workerCores:
      (startsPerSecond * recordedShare * (meanSeconds / 60) * (MEASURED.analysisMs.value + MEASURED.opusMs.value)) /
      1e3 /
      CORE_SHARE,
    workerHours: (recordedMinutes * (MEASURED.analysisMs.value + MEASURED.opusMs.value)) / 1e3 / HOUR_SECONDS,
    redisScriptsPerSecond: startsPerSecond * (11 + assumed.carrierRequests) + heartbeats + looks,
    redisJobsPerSecond: startsPerSecond * jobs,
    redisStateShare: (startsPerSecond * (scriptUs + findUs) + heartbeatUs + looks * MEASURED.findUs.value) / 1e6,
    redisJobsShare: (startsPerSecond * jobs * MEASURED.jobUs.value) / 1e6,
    redisMb: (callsAtOnce * MEASURED.liveBytes.value + 3 * REMEMBERED * MEASURED.jobBytes.value) / 1e6,
    rowsPerDay: rows * callsPerDay,
    rowsPerSecond: rows * startsPerSecond,
    rowGbPerDay: gigabytes(rowBytes),
    indexGbPerDay: gigabytes(indexBytes),
    walGbPerDay: gigabytes(walBytes),
    walMbPerSecond: (walBytes * startsPerSecond) / 1e6,
    storeTb: (gigabytes(rowBytes + indexBytes) * assumed.keepDays) / 1e3,
    wavGbPerDay: (recordedHours * MEASURED.wavMb.value) / 1e3,
    flacGbPerDay: (recordedHours * MEASURED.flacMb.value) / 1e3,
    opusGbPerDay: (recordedHours * MEASURED.opusMb.value) / 1e3,
    opusTb: (recordedHours * MEASURED.opusMb.value * assumed.keepDays) / 1e6,
    deliveriesPerSecond: startsPerSecond * assumed.deliveries,
    logLinesPerSecond: startsPerSecond * logLines,
    logGbPerDay: gigabytes(logLines * LOG_LINE_BYTES),
  };
}

export type Load = ReturnType<typeof workOut>;

/** Messages and megabytes a second of all calls on the carriers' sockets. The bot speaks half of the time. */
function mediaOf(kind: keyof typeof MESSAGE_BYTES, calls: number) {
  const bytes = MESSAGE_BYTES[kind];
  const [inbound, outbound, marks] = [MESSAGES.inbound, MESSAGES.outbound / 2, MESSAGES.marks / 2];
  const megabytes = (each: number): number => (each * calls) / 1e6;
  return {
    messagesIn: inbound * calls,
    messagesOut: (outbound + marks) * calls,
    megabytesIn: megabytes(inbound * (bytes.inbound + WIRE_BYTES)),
    megabytesOut: megabytes(outbound * (bytes.outbound + WIRE_BYTES) + marks * (bytes.marks + WIRE_BYTES)),
  };
}
