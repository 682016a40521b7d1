import type { Clock } from '../../../src/kernel/clock.ts';
import type { OpenWire } from '../../../src/dialog/realtime/session-socket.ts';
import type { SimulatedPeer, SimulatedRealtime, SimulatedSession } from '../../../src/sim/realtime/simulated-model.ts';

/** Wires a session to a simulated vendor in the same process and time: each message takes `delayMs`. */
export function wireTo(vendor: SimulatedRealtime, clock: Clock, delayMs = 20): OpenWire {
  let opened = 0;
  return (_url, _headers, listener) => {
    let session: SimulatedSession | undefined;
    let isOpen = true;
    const over = (reason: string, status?: number): void => {
      if (!isOpen) return;
      isOpen = false;
      session?.gone();
      clock.after(delayMs, () => listener.closed(reason, status));
    };
    const later = (run: () => void): void => void clock.after(delayMs, () => isOpen && run());
    const peer: SimulatedPeer = {
      send: (frame) => later(() => listener.frame(frame)),
      close: (code) => over(`closed with ${code}`),
      terminate: () => over('broke'),
    };
    const status = vendor.options.refuse?.(opened++);
    later(() => {
      if (status !== undefined) return over(`HTTP ${status}`, status);
      session = vendor.connect(peer);
      listener.opened();
    });
    return {
      send: (frame) => later(() => session?.receive(frame)),
      waitingBytes: 0,
      close: () => {
        isOpen = false;
        session?.gone();
      },
    };
  };
}
