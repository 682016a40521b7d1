import { errorText } from '../kernel/errors.ts';
import { type LoopLag, measureLoopLag } from '../observability/loop-lag.ts';
import { CallDispatcher } from './call-dispatcher.ts';
import type { CallHost, HostedBy } from './call-host.ts';
import { botOfLeft } from './calls.ts';
import { doorOf, type GatewayParts, type MediaProcesses } from './gateway-parts.ts';
import type { MediaProcess } from './media-process.ts';
import { MediaProcessPool } from './media-process-pool.ts';
import type { Assignment, Report } from './protocol.ts';

/** Time a media process gets to come up. */
const START_TIMEOUT_MS = 60_000;

/** Has the calls of a gateway in media processes, which `start` starts. */
export async function hostCallsInProcesses(parts: GatewayParts, processes: MediaProcesses, gateway: HostedBy): Promise<CallHost> {
  const { size } = processes;
  const state = { spareSlots: await spareSlotsOf(parts, size), isDraining: false };
  const { pool, dispatcher } = openPool(parts, processes, gateway, state);
  const draining = (): boolean => pool.stopping || state.isDraining;
  const lag = measureLoopLag();
  parts.metrics.watchProcesses(() => pool);
  return {
    ...dispatcher.calls,
    has: dispatcher.has,
    hasCarrierCall: dispatcher.hasCarrierCall,
    again: (inbound) => dispatcher.again(inbound),
    speechReady: () => parts.speech.router.ready(),
    giveUp: (callId) => dispatcher.release(callId, 'went on elsewhere'),
    outbound: dispatcher,
    registry: undefined,
    expected: undefined,
    get active() {
      return dispatcher.active;
    },
    get draining() {
      return draining();
    },
    get load() {
      const lagMs = Math.max(0, ...pool.members.map(({ load }) => load.lagMs));
      return { lagMs, shedding: dispatcher.shedding };
    },
    get mediaProcesses() {
      return { up: pool.up, size };
    },
    prepared: Promise.resolve(),
    prepare: () => undefined,
    processes: () => [frontOf(lag, draining()), ...pool.states((member) => dispatcher.callsOf(member))],
    metrics: () => pool.metrics(),
    loadBots: (_bots, use) =>
      pool.loadBots(async () => {
        use();
        // Another vendor may be the first of these.
        state.spareSlots = await spareSlotsOf(parts, size);
        return state.spareSlots;
      }),
    start: () => pool.start(),
    drain() {
      state.isDraining = true;
      return dispatcher.drained();
    },
    takeCalls: () => void (state.isDraining = false),
    startNoMore: () => pool.startNoMore(),
    async close() {
      lag[Symbol.dispose]();
      await pool.stop();
    },
  };
}

/** Recognition slots of each process beside those of calls. */
async function spareSlotsOf(
  { options, later, lender, speech }: GatewayParts,
  processes: number,
): Promise<Assignment['spareSlots']> {
  const machines = (await lender?.members()) ?? 1;
  return speech.router.shareSpare({ bots: later.bots, calls: options.config.settings.call.maximum, processes, machines });
}

function frontOf(lag: LoopLag, draining: boolean): ReturnType<CallHost['processes']>[number] {
  const state = draining ? 'leaving' : 'up';
  return { name: 'front', pid: process.pid, state, lagMs: lag.takeP99Ms(), shedding: false, calls: null };
}

/** The processes, not started yet, and what knows which of them has a call. */
function openPool(
  parts: GatewayParts,
  { size, launch, platform }: MediaProcesses,
  gateway: HostedBy,
  state: { readonly spareSlots: Assignment['spareSlots']; readonly isDraining: boolean },
): Pick<Hearing, 'pool' | 'dispatcher'> {
  const { options, later, speech, journal, orphans, backlog, gatewayUrl } = parts;
  const { clock, logger, shared } = options;
  const pool: MediaProcessPool = new MediaProcessPool({
    size,
    launch,
    assignment: () => ({
      spareSlots: state.spareSlots,
      gatewayUrl: gatewayUrl(),
      platform,
      memberId: shared?.members.own.id,
    }),
    clock,
    logger,
    startTimeoutMs: START_TIMEOUT_MS,
    onReport: (process, report) => heard(process, report, { parts, gateway, pool, dispatcher }),
    onGone(process) {
      const lost = dispatcher.gone(process);
      if (lost > 0) logger.error({ process: process.number, calls: lost }, 'media process exited: its calls are lost');
      orphans.wake();
      backlog.pump?.wake();
    },
  });
  parts.spend.onLook((bots) => pool.spendReached(bots));
  const dispatcher = new CallDispatcher({
    ...doorOf(parts),
    get bots() {
      return later.bots;
    },
    reserveSpeech: (bot) => speech.router.reservePlace(bot),
    botOf: (callId) => botOfLeft(journal, callId),
    onDialReport: gateway.dialReported,
    onBegun: gateway.begun,
    onOver: gateway.over,
    processes: () => pool.members,
    stopping: () => pool.stopping || state.isDraining,
    clock,
  });
  return { pool, dispatcher };
}

interface Hearing {
  readonly parts: GatewayParts;
  readonly gateway: HostedBy;
  readonly pool: MediaProcessPool;
  readonly dispatcher: CallDispatcher;
}

/** Does what a media process reports; what it says of itself `MediaProcess` has heard. */
function heard(process: MediaProcess, report: Report, { parts, gateway, pool, dispatcher }: Hearing): void {
  switch (report.type) {
    case 'kept':
      return parts.backlog.pump?.wake();
    case 'news':
      return dispatcher.tellNews(report);
    case 'speech-failed':
      parts.speech.router.failedElsewhere(report.service, report.vendor);
      return pool.speechFailed(process, report);
    case 'leg':
      return openLeg(process, report, { parts, gateway, dispatcher });
    case 'leg-placed':
      return gateway.legs.placed(report, report.carrierCallId);
    case 'leg-over':
      return closeLeg(report.legId, { gateway, dispatcher });
    case 'begun':
    case 'given-up':
    case 'over':
      return dispatcher.heard(process, report);
    case 'given':
    case 'refused':
    case 'up':
    case 'leaving':
    case 'load':
      return undefined;
  }
}

function openLeg(
  process: MediaProcess,
  { ringMs, ...leg }: Report & { readonly type: 'leg' },
  { parts, gateway, dispatcher }: Omit<Hearing, 'pool'>,
): void {
  const { callId, legId } = leg;
  dispatcher.openLeg(process, legId);
  gateway.legs.addresses(leg, ringMs).then(
    (addresses) => process.tell('leg-addresses', { legId, ...addresses }),
    (error: unknown) => {
      parts.options.logger.error({ callId, error }, "addresses of an agent's leg not made");
      closeLeg(legId, { gateway, dispatcher });
      process.tell('leg-refused', { legId, problem: errorText(error) });
    },
  );
}

function closeLeg(legId: string, { gateway, dispatcher }: Pick<Hearing, 'gateway' | 'dispatcher'>): void {
  dispatcher.closeLeg(legId);
  gateway.legs.closed({ legId });
}
