import { nearest } from '../../config/nearest.ts';
import { TRANSFER_OUTCOMES } from '../port.ts';
import { edgesOfState, entriesOf, type FlowProblem, valuesOf } from './flow-parts.ts';
import type { Flow, StateDocument } from './schema.ts';

/** States that no call can reach, states that a call cannot leave, and loops without a question. */
export function checkReach(flow: Flow): FlowProblem[] {
  return [...unreachable(flow), ...deadEnds(flow), ...silentRounds(flow), ...requests(flow), ...transfers(flow)];
}

function unreachable(flow: Flow): FlowProblem[] {
  const reached = new Set<string>();
  const open = entriesOf(flow).map(({ to }) => to);
  for (let name = open.pop(); name !== undefined; name = open.pop()) {
    if (reached.has(name) || !Object.hasOwn(flow.states, name)) continue;
    reached.add(name);
    open.push(...waysFrom(flow, name));
  }
  return Object.keys(flow.states)
    .filter((name) => !reached.has(name))
    .map((name) => ({ path: `states.${name}`, message: 'nothing leads to this state' }));
}

/** The states that a state may lead to, by name. */
function waysFrom(flow: Flow, name: string): string[] {
  const state = Object.hasOwn(flow.states, name) ? flow.states[name] : undefined;
  return state === undefined ? [] : edgesOfState(name, state).map(({ to }) => to);
}

function deadEnds(flow: Flow): FlowProblem[] {
  return Object.entries(flow.states).flatMap(([name, state]) => {
    const path = `states.${name}`;
    const ways = [state.next, state.confirm, state.hangup, state.transfer, state.bot].filter((way) => way !== undefined).length;
    if (state.ask !== undefined && state.confirm !== undefined) {
      return [{ path, message: 'asks and confirms; one state does one of the two' }];
    }
    if (ways === 0) return [{ path, message: 'a call cannot leave this state: it needs next, hangup, transfer or bot' }];
    if (ways > 1)
      return [{ path, message: 'has more than one way out: next, confirm, hangup, transfer and bot exclude each other' }];
    if (state.ask !== undefined && (state.hangup ?? state.transfer ?? state.bot) !== undefined) {
      return [{ path, message: 'asks and hangs up before the answer' }];
    }
    if (state.voicemail !== undefined && (state.ask ?? state.request) !== undefined)
      return [{ path, message: 'takes a message, and asks; one state does one of the two' }];
    if (state.voicemail !== undefined && state.next === undefined)
      return [{ path, message: 'takes a message, and needs next: what follows it' }];
    if (state.closed !== undefined && flow.hours === undefined)
      return [{ path: `${path}.closed`, message: 'needs the hours of the flow' }];
    if (state.voice !== undefined && state.language === undefined) return [{ path, message: 'a voice needs its language' }];
    return [...openBranches(flow, path, state)];
  });
}

/** Keys of `failed` besides HTTP statuses. */
const FAILURES = ['timeout', 'unreachable', 'answer', 'unknown', 'otherwise'];
const STATUS = /^[345]\d\d$/u;
/** The caller waits for all tries of a request. */
const LONGEST_REQUEST_MS = 60_000;

function requests(flow: Flow): FlowProblem[] {
  return Object.entries(flow.states).flatMap(([name, { request, next, ask, confirm, ...rest }]) => {
    if (request === undefined) return [];
    const path = `states.${name}.request`;
    const problems: FlowProblem[] = [];
    if (next === undefined || (ask ?? confirm ?? rest.hangup ?? rest.transfer ?? rest.bot ?? rest.press) !== undefined) {
      problems.push({ path, message: 'goes on by next alone; ask, hang up and the like in the state that follows' });
    }
    const { failed, timeoutMs, tries, unset } = request;
    const failures = typeof failed === 'string' ? ['otherwise'] : Object.keys(failed);
    for (const failure of failures.filter((each) => !FAILURES.includes(each) && !STATUS.test(each))) {
      const message = `is nothing that a request fails with; accepted are a status of 300 to 599, ${FAILURES.join(', ')}`;
      problems.push({ path: `${path}.failed.${failure}`, message, meant: nearest(failure, FAILURES) });
    }
    if (!failures.includes('otherwise')) {
      problems.push({ path: `${path}.failed`, message: 'needs otherwise, for every failure that is not named' });
    }
    if (tries * timeoutMs > LONGEST_REQUEST_MS) {
      const message = `${tries} tries of ${timeoutMs} ms: a caller would wait for more than ${LONGEST_REQUEST_MS} ms`;
      problems.push({ path: `${path}.timeoutMs`, message });
    }
    if (!flow.hasServer && unset === undefined) {
      const message =
        'has no server: give its address in dialog.server (url or urlEnv, whose variable must be set), or say with unset where calls go without one';
      problems.push({ path, message });
    }
    return problems;
  });
}

const TRANSFER_FAILURES = [...TRANSFER_OUTCOMES.filter((outcome) => outcome !== 'answered'), 'otherwise'];

function transfers(flow: Flow): FlowProblem[] {
  return Object.entries(flow.states).flatMap(([name, { transfer }]) => {
    const failed = transfer?.failed;
    if (failed === undefined || typeof failed === 'string') return [];
    const path = `states.${name}.transfer.failed`;
    const outcomes = Object.keys(failed);
    const unknown = outcomes
      .filter((outcome) => !TRANSFER_FAILURES.includes(outcome))
      .map((outcome) => ({
        path: `${path}.${outcome}`,
        message: `is no outcome of a transfer; accepted are ${TRANSFER_FAILURES.join(', ')}`,
        meant: nearest(outcome, TRANSFER_FAILURES),
      }));
    const isOpen =
      !outcomes.includes('otherwise') && TRANSFER_FAILURES.some((each) => each !== 'otherwise' && !outcomes.includes(each));
    return isOpen ? [...unknown, { path, message: 'needs otherwise, for every outcome that is not named' }] : unknown;
  });
}

/** A `next` that has no way for some answer. */
function openBranches(flow: Flow, path: string, state: StateDocument): FlowProblem[] {
  const { next, ask } = state;
  if (next === undefined || typeof next === 'string') return [];
  if (Array.isArray(next)) {
    const last = next.findIndex(({ when }) => when === undefined);
    if (last < 0) return [{ path: `${path}.next`, message: 'the last branch must have no when, for all that is left' }];
    return last === next.length - 1
      ? []
      : [{ path: `${path}.next.${last + 1}`, message: 'is never tried: the branch before has no when' }];
  }
  if (ask === undefined) return [{ path: `${path}.next`, message: 'ways by answer need an ask; use branches with when' }];
  if (Object.hasOwn(next, 'otherwise')) return [];
  const slot = Object.hasOwn(flow.slots, ask.slot) ? flow.slots[ask.slot] : undefined;
  const values = slot === undefined ? [] : valuesOf(slot);
  if (values === undefined) return [{ path: `${path}.next`, message: 'needs otherwise: the answers cannot all be listed' }];
  const missing = values.filter((value) => !Object.hasOwn(next, value));
  return missing.length === 0 ? [] : [{ path: `${path}.next`, message: `has no way for ${missing.join(', ')}` }];
}

/** Loops of states that only speak: a call in one would never hear a question. */
function silentRounds(flow: Flow): FlowProblem[] {
  const waits = (name: string): boolean => {
    const state = Object.hasOwn(flow.states, name) ? flow.states[name] : undefined;
    return (
      state === undefined ||
      state.ask !== undefined ||
      state.confirm !== undefined ||
      state.voicemail !== undefined ||
      (state.hangup ?? state.transfer ?? state.bot) !== undefined
    );
  };
  const comesBack = (start: string): boolean => {
    const seen = new Set<string>();
    const open = waysFrom(flow, start);
    for (let name = open.pop(); name !== undefined; name = open.pop()) {
      if (name === start) return true;
      if (waits(name) || seen.has(name)) continue;
      seen.add(name);
      open.push(...waysFrom(flow, name));
    }
    return false;
  };
  return Object.keys(flow.states)
    .filter((name) => !waits(name) && comesBack(name))
    .map((name) => ({ path: `states.${name}`, message: 'comes back to itself without asking anything' }));
}
