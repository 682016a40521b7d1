import { nextShedding, roomFor } from '../../src/call/admission/admission.ts';
import { seededRandom } from '../../src/audio/tone.ts';

/** How a load balancer gives a connection to a gateway: `two` takes the one with fewer connections of two drawn at random. */
export type Balancer = 'round-robin' | 'random' | 'two' | 'least';
/** How a front gives a call to a process: by its own counts, or by the counts of the last report (`reported`). */
export type FrontChoice = 'fewest' | 'two' | 'random' | 'reported';

export interface Choices {
  readonly balancer: Balancer;
  readonly front: FrontChoice;
  /** Other gateways, drawn at random, that a full one asks before it refuses a call. */
  readonly asksPeers: number;
  /** Media sockets come through the balancer again, or to the address of the gateway that has the call. */
  readonly streams: 'balanced' | 'own-address';
}

export interface Scenario {
  readonly seed: number;
  /** Processes of each gateway. */
  readonly gateways: readonly number[];
  /** `call.maximum` of a gateway is so many for each of its processes. */
  readonly maximumPerProcess: number;
  /** Calls that begin in a second, at the peak of the curve. */
  readonly peakPerSecond: number;
  readonly meanCallSeconds: number;
  readonly seconds: number;
  /** A campaign begins so many more calls than the curve has, between two times. */
  readonly burst?: { readonly fromSeconds: number; readonly toSeconds: number; readonly times: number } | undefined;
  /** The first gateway dies. */
  readonly deathAtSeconds?: number | undefined;
  /** Gateways are drained one after the other, each for at most so long, and are back a while after. */
  readonly restart?: { readonly fromSeconds: number; readonly drainSeconds: number; readonly bootSeconds: number } | undefined;
}

export interface Outcome {
  readonly calls: number;
  readonly refused: number;
  /** Most loaded gateway over the mean, and the same of processes: mean of all looks. */
  readonly gatewayOverMean: number;
  readonly processOverMean: number;
  /** Share of media sockets that came to another gateway than the call's. */
  readonly relayedShare: number;
  /** Share of a core that the front with most relayed sockets spends on them. */
  readonly relayCore: number;
  /** Calls of the gateway that died: those that another one went on with, and those that none had room for. */
  readonly moved: number;
  readonly lost: number;
  /** Calls of other gateways whose media sockets were relayed by the one that died, and came again. */
  readonly reattached: number;
  /** Time from the first drain to the end of the last; undefined where it did not end. */
  readonly restartSeconds: number | undefined;
  readonly cut: number;
}

/** `call.refuseLagMs` and `call.acceptLagMs` as shipped. */
const LAG_LIMITS = { refuseLagMs: 200, acceptLagMs: 100 };
/** A process says how late its loop is: WINDOW_MS of `load-watch.ts`. */
const REPORT_SECONDS = 2;
/** W2 in `bench/capacity/README.md`, microseconds of processor time in a second of a call. */
const CALL_US = 3_080;
/** `relay-cost.ts`, the same of a socket that is passed on. */
const RELAY_US = 1_080;
/** After a death, calls come again this soon (uniform): the carrier sees the closed socket and asks for its next document. */
const COME_AGAIN_SECONDS = [0.1, 1.5] as const;
/** From a webhook to its media socket (uniform): an assumption. */
const STREAM_AFTER_SECONDS = [0.2, 1] as const;
/** `maxDurationMs` of a bot. */
const LONGEST_CALL_SECONDS = 3_600;
const LOOK_SECONDS = 10;
/** Until calls have come to their usual number nothing is counted. */
const WARM_UP_SECONDS = 900;

interface SimulatedProcess {
  calls: number;
  reported: number;
  shedding: boolean;
}

interface SimulatedGateway {
  readonly processes: readonly SimulatedProcess[];
  up: boolean;
  draining: boolean;
  calls: number;
  /** Media sockets that the balancer gave it. */
  sockets: number;
  relayed: number;
  readonly live: Set<LiveCall>;
}

interface LiveCall {
  readonly endsAt: number;
  readonly gateway: SimulatedGateway;
  readonly process: SimulatedProcess;
  /** Where its media socket came; undefined until it has come. */
  through: SimulatedGateway | undefined;
}

/**
 * Lag of an event loop with so many calls, in ms (99th percentile): a queue's waiting time, fitted to 10 ms at 62 % of a core
 * (`bench/capacity/README.md`). A model: only its steep end matters here.
 */
export function lagOf(calls: number): number {
  const busy = Math.min(0.999, (calls * CALL_US) / 1e6);
  return (6.1 * busy) / (1 - busy);
}

/** The share of the peak at a time: an hour that rises, stays and falls. */
export function curveAt(seconds: number, length: number): number {
  return 0.6 + 0.4 * Math.sin((Math.PI * Math.min(Math.max(seconds, 0), length)) / length);
}

/** Of these, as a policy has it; undefined of none. @param loadOf what `two` and `least` compare */
export function choose<Each>(
  policy: Exclude<Balancer, 'round-robin'>,
  from: readonly Each[],
  loadOf: (each: Each) => number,
  random: () => number,
): Each | undefined {
  const drawn = (): Each | undefined => from[Math.floor(random() * from.length)];
  if (policy === 'random') return drawn();
  const compared = policy === 'two' ? [drawn(), drawn()] : from;
  let best: Each | undefined;
  for (const each of compared) if (each !== undefined && (best === undefined || loadOf(each) < loadOf(best))) best = each;
  return best;
}

/** Runs a scenario on a clock of its own. The same seed gives the same outcome. */
export function simulate(scenario: Scenario, choices: Choices): Outcome {
  return new Simulation(scenario, choices).run();
}

class Simulation {
  readonly #scenario: Scenario;
  readonly #choices: Choices;
  readonly #random: () => number;
  readonly #gateways: readonly SimulatedGateway[];
  readonly #due = new Due();
  #now = 0;
  #turn = 0;
  #calls = 0;
  #refused = 0;
  #relayed = 0;
  #sockets = 0;
  #relayCore = 0;
  #moved = 0;
  #lost = 0;
  #reattached = 0;
  #cut = 0;
  #restartSeconds: number | undefined;
  readonly #gatewayRatios: number[] = [];
  readonly #processRatios: number[] = [];

  constructor(scenario: Scenario, choices: Choices) {
    this.#scenario = scenario;
    this.#choices = choices;
    this.#random = seededRandom(scenario.seed);
    this.#gateways = scenario.gateways.map((processes) => ({
      processes: Array.from({ length: processes }, () => ({ calls: 0, reported: 0, shedding: false })),
      up: true,
      draining: false,
      calls: 0,
      sockets: 0,
      relayed: 0,
      live: new Set(),
    }));
  }

  run(): Outcome {
    const { deathAtSeconds, restart, seconds } = this.#scenario;
    const end = WARM_UP_SECONDS + seconds;
    this.#arriveNext();
    this.#every(REPORT_SECONDS, () => this.#report());
    this.#every(LOOK_SECONDS, () => this.#look());
    if (deathAtSeconds !== undefined) this.#due.add(WARM_UP_SECONDS + deathAtSeconds, () => this.#die());
    if (restart !== undefined) this.#due.add(WARM_UP_SECONDS + restart.fromSeconds, () => this.#restart(0, this.#now));
    for (let next = this.#due.next(); next !== undefined && next.at < end; next = this.#due.next()) {
      this.#now = next.at;
      next.act();
    }
    return {
      calls: this.#calls,
      refused: this.#refused,
      gatewayOverMean: mean(this.#gatewayRatios),
      processOverMean: mean(this.#processRatios),
      relayedShare: this.#sockets === 0 ? 0 : this.#relayed / this.#sockets,
      relayCore: this.#relayCore,
      moved: this.#moved,
      lost: this.#lost,
      reattached: this.#reattached,
      restartSeconds: this.#restartSeconds,
      cut: this.#cut,
    };
  }

  get #counts(): boolean {
    return this.#now >= WARM_UP_SECONDS;
  }

  #every(seconds: number, act: () => void): void {
    this.#due.add(this.#now + seconds, () => {
      act();
      this.#every(seconds, act);
    });
  }

  /** Poisson, by thinning: arrivals at the highest rate, of which the curve's share counts. */
  #arriveNext(): void {
    const { peakPerSecond, burst, seconds } = this.#scenario;
    const highest = peakPerSecond * Math.max(1, burst?.times ?? 1);
    this.#due.add(this.#now + exponential(this.#random, 1 / highest), () => {
      const at = this.#now - WARM_UP_SECONDS;
      const times = burst !== undefined && at >= burst.fromSeconds && at < burst.toSeconds ? burst.times : 1;
      if (this.#random() * highest < peakPerSecond * curveAt(at, seconds) * times) this.#arrive();
      this.#arriveNext();
    });
  }

  #arrive(): void {
    const accepted = this.#take(Math.min(LONGEST_CALL_SECONDS, exponential(this.#random, this.#scenario.meanCallSeconds)));
    if (!this.#counts) return;
    this.#calls += 1;
    if (!accepted) this.#refused += 1;
  }

  /** A webhook: to a gateway, which takes it, asks others, or refuses. */
  #take(seconds: number): boolean {
    const first = this.#balanced();
    if (first === undefined) return false;
    const gateway = this.#hasRoom(first) ? first : this.#otherThan(first);
    const process = gateway && this.#processOf(gateway);
    if (gateway === undefined || process === undefined) return false;
    const call: LiveCall = { endsAt: this.#now + seconds, gateway, process, through: undefined };
    process.calls += 1;
    gateway.calls += 1;
    gateway.live.add(call);
    this.#due.add(this.#now + between(STREAM_AFTER_SECONDS, this.#random), () => this.#attach(call));
    this.#due.add(call.endsAt, () => this.#end(call));
    return true;
  }

  #otherThan(first: SimulatedGateway): SimulatedGateway | undefined {
    const others = this.#gateways.filter((each) => each !== first && each.up && !each.draining);
    const asked = shuffled(others, this.#random).slice(0, this.#choices.asksPeers);
    return asked.find((each) => this.#hasRoom(each));
  }

  #attach(call: LiveCall): void {
    const { gateway } = call;
    if (!gateway.live.has(call)) return;
    const through = this.#choices.streams === 'balanced' ? (this.#balanced() ?? gateway) : gateway;
    call.through = through;
    through.sockets += 1;
    if (through !== gateway) through.relayed += 1;
    if (!this.#counts) return;
    this.#sockets += 1;
    if (through !== gateway) this.#relayed += 1;
  }

  #end(call: LiveCall): void {
    if (!call.gateway.live.delete(call)) return;
    call.process.calls -= 1;
    call.gateway.calls -= 1;
    this.#detach(call);
  }

  #detach(call: LiveCall): void {
    if (call.through === undefined) return;
    call.through.sockets -= 1;
    if (call.through !== call.gateway) call.through.relayed -= 1;
    call.through = undefined;
  }

  /** The balancer knows who is ready: a connection that is refused goes to another gateway. */
  #balanced(): SimulatedGateway | undefined {
    const ready = this.#gateways.filter(
      ({ up, draining, processes }) => up && !draining && processes.some((each) => !each.shedding),
    );
    const { balancer } = this.#choices;
    if (balancer === 'round-robin') return ready[this.#turn++ % ready.length];
    return choose(balancer, ready, ({ sockets }) => sockets, this.#random);
  }

  #hasRoom({ processes, calls }: SimulatedGateway): boolean {
    const maximum = processes.length * this.#scenario.maximumPerProcess;
    return roomFor({ maximum }, { active: calls, shedding: processes.every(({ shedding }) => shedding) }) === 'room';
  }

  #processOf({ processes }: SimulatedGateway): SimulatedProcess | undefined {
    const inTime = processes.filter(({ shedding }) => !shedding);
    const { front } = this.#choices;
    if (front === 'reported') return choose('least', inTime, ({ reported }) => reported, this.#random);
    return choose(front === 'fewest' ? 'least' : front, inTime, ({ calls }) => calls, this.#random);
  }

  #report(): void {
    for (const each of this.#gateways.flatMap(({ processes }) => processes)) {
      each.reported = each.calls;
      each.shedding = nextShedding(LAG_LIMITS, each.shedding, lagOf(each.calls));
    }
  }

  #look(): void {
    if (!this.#counts) return;
    const up = this.#gateways.filter((each) => each.up && !each.draining);
    this.#gatewayRatios.push(mostOverMean(up.map(({ calls, processes }) => calls / processes.length)));
    this.#processRatios.push(mostOverMean(up.flatMap(({ processes }) => processes.map(({ calls }) => calls))));
    for (const { relayed } of up) this.#relayCore = Math.max(this.#relayCore, (relayed * RELAY_US) / 1e6);
  }

  #die(): void {
    const [gateway] = this.#gateways;
    if (gateway === undefined) return;
    gateway.up = false;
    for (const call of this.#gateways.flatMap(({ live }) => [...live])) {
      if (call.gateway === gateway) {
        this.#end(call);
        this.#due.add(this.#now + between(COME_AGAIN_SECONDS, this.#random), () => {
          if (this.#take(Math.max(1, call.endsAt - this.#now))) this.#moved += 1;
          else this.#lost += 1;
        });
      } else if (call.through === gateway) {
        this.#detach(call);
        this.#reattached += 1;
        this.#due.add(this.#now + between(COME_AGAIN_SECONDS, this.#random), () => this.#attach(call));
      }
    }
  }

  #restart(index: number, beganAt: number): void {
    const { restart } = this.#scenario;
    const gateway = this.#gateways[index];
    if (restart === undefined) return;
    if (gateway === undefined) {
      this.#restartSeconds = this.#now - beganAt;
      return;
    }
    gateway.draining = true;
    const drainedAt = this.#now + restart.drainSeconds;
    const look = (): void => {
      if (gateway.calls > 0 && this.#now < drainedAt) return this.#due.add(this.#now + 1, look);
      this.#cut += gateway.calls;
      for (const call of gateway.live) this.#end(call);
      gateway.up = false;
      this.#due.add(this.#now + restart.bootSeconds, () => {
        gateway.up = true;
        gateway.draining = false;
        this.#restart(index + 1, beganAt);
      });
    };
    look();
  }
}

/** What is to happen, soonest first: a binary heap. */
class Due {
  readonly #heap: { readonly at: number; readonly act: () => void }[] = [];

  add(at: number, act: () => void): void {
    const heap = this.#heap;
    let index = heap.length;
    const added = { at, act };
    heap.push(added);
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = heap[above];
      if (parent === undefined || parent.at <= at) break;
      heap[index] = parent;
      index = above;
    }
    heap[index] = added;
  }

  next(): { readonly at: number; readonly act: () => void } | undefined {
    const heap = this.#heap;
    const [first] = heap;
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let index = 0;
    for (;;) {
      const left = heap[2 * index + 1];
      const right = heap[2 * index + 2];
      const lower = right !== undefined && left !== undefined && right.at < left.at ? 2 * index + 2 : 2 * index + 1;
      const child = heap[lower];
      if (child === undefined || child.at >= last.at) break;
      heap[index] = child;
      index = lower;
    }
    heap[index] = last;
    return first;
  }
}

function between([least, most]: readonly [number, number], random: () => number): number {
  return least + random() * (most - least);
}

function exponential(random: () => number, average: number): number {
  return -Math.log(1 - random()) * average;
}

function shuffled<Each>(from: readonly Each[], random: () => number): Each[] {
  return from
    .map((each) => ({ each, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ each }) => each);
}

function mostOverMean(values: readonly number[]): number {
  const average = mean(values);
  return average === 0 ? 1 : Math.max(...values) / average;
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((total, value) => total + value, 0) / values.length;
}
