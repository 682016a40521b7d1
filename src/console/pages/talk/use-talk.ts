import { useCallback, useEffect, useRef, useState } from 'react';
import type { BrowserCallView } from '../../../http/api/calls/live-call-routes.ts';
import { post, Refused } from '../../api.ts';
import { BrowserCall, type CallEnd } from '../../audio/browser-call.ts';
import { Level } from '../../audio/levels.ts';
import { MicrophoneError, type MicrophoneProblem } from '../../audio/microphone.ts';
import { WORKLETS } from '../../audio/worklets.ts';

/** Why there is no call: what is wrong with the microphone, a refusal of the gateway in its words, or a connection that did not come. */
export type TalkProblem = { readonly microphone: MicrophoneProblem } | { readonly refused: string } | 'no-socket' | 'unreachable';

export type TalkState =
  | { readonly name: 'idle'; readonly problem?: TalkProblem }
  | { readonly name: 'starting'; readonly bot: string; readonly callId?: string }
  | { readonly name: 'live'; readonly bot: string; readonly callId: string; readonly sinceMs: number }
  | { readonly name: 'over'; readonly bot: string; readonly callId: string; readonly end: CallEnd; readonly tookMs: number };

export interface Talk {
  readonly state: TalkState;
  readonly isMuted: boolean;
  readonly caller: Level;
  readonly bot: Level;
  call(bot: string): void;
  hangUp(): void;
  mute(isMuted: boolean): void;
  press(digit: string): void;
  /** Devices of this and later calls; undefined for the system's choice. */
  choose(devices: Devices): void;
  readonly devices: Devices;
}

export interface Devices {
  readonly microphoneId?: string | undefined;
  readonly speakerId?: string | undefined;
}

/** One call at a time from this page; leaving the page hangs up. @param draft of the bot's file, which answers in place of the bot */
export function useTalk(draft?: string): Talk {
  const [state, setState] = useState<TalkState>({ name: 'idle' });
  const [isMuted, setIsMuted] = useState(false);
  const [devices, setDevices] = useState<Devices>({});
  const [levels] = useState(() => ({ caller: new Level(), bot: new Level() }));
  const current = useRef<{ call?: BrowserCall; isCancelled: boolean }>(undefined);

  const hangUp = useCallback(() => {
    const running = current.current;
    if (running === undefined) return;
    running.isCancelled = true;
    running.call?.hangUp();
    if (running.call === undefined) setState({ name: 'idle' });
    current.current = undefined;
  }, []);
  useEffect(() => hangUp, [hangUp]);

  const call = async (bot: string): Promise<void> => {
    hangUp();
    const running: { call?: BrowserCall; isCancelled: boolean } = { isCancelled: false };
    current.current = running;
    setIsMuted(false);
    setState({ name: 'starting', bot });
    let callId = '';
    let sinceMs = Date.now();
    let ended: CallEnd | undefined;
    const over = (end: CallEnd): void => setState({ name: 'over', bot, callId, end, tookMs: Date.now() - sinceMs });
    try {
      running.call = await BrowserCall.start({
        async begin() {
          if (running.isCancelled) throw new Cancelled();
          const begun = await post<BrowserCallView>('/browser-calls', { bot, ...(draft === undefined ? {} : { draft }) });
          ({ callId } = begun);
          if (!running.isCancelled) setState({ name: 'starting', bot, callId });
          return ownAddress(begun.streamUrl ?? '');
        },
        worklets: WORKLETS,
        ...devices,
        onLevels({ caller, bot: ofBot }) {
          if (caller !== undefined) levels.caller.heard(caller);
          if (ofBot !== undefined) levels.bot.heard(ofBot);
        },
        onOver(end) {
          if (current.current === running) current.current = undefined;
          ended = end;
          if (running.call !== undefined) over(end);
        },
      });
      if (running.isCancelled) return running.call.hangUp();
      if (ended !== undefined) return over(ended);
      sinceMs = Date.now();
      setState({ name: 'live', bot, callId, sinceMs });
    } catch (error) {
      if (current.current === running) current.current = undefined;
      if (!running.isCancelled) setState({ name: 'idle', problem: problemOf(error) });
    }
  };

  return {
    state,
    isMuted,
    ...levels,
    call: (bot) => void call(bot),
    hangUp,
    mute(next) {
      current.current?.call?.mute(next);
      setIsMuted(next);
    },
    press: (digit) => current.current?.call?.press(digit),
    devices,
    choose(next) {
      setDevices(next);
      const running = current.current?.call;
      if (next.speakerId !== devices.speakerId) void running?.switchSpeaker(next.speakerId ?? '').catch(() => undefined);
      if (next.microphoneId !== devices.microphoneId)
        void running?.switchMicrophone(next.microphoneId).catch(() => setDevices(devices));
    },
  };
}

class Cancelled extends Error {}

/** On the gateway that served this page, by whatever name it is reached here: the page's policy allows no other. */
function ownAddress(streamUrl: string): string {
  return location.origin.replace(/^http/u, 'ws') + new URL(streamUrl).pathname;
}

function problemOf(error: unknown): TalkProblem {
  if (error instanceof MicrophoneError) return { microphone: error.problem };
  if (error instanceof Refused) return { refused: error.message };
  return error instanceof TypeError ? 'unreachable' : 'no-socket';
}
