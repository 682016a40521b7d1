import { CallRefused } from '../errors.ts';
import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';
import { SimulatedTelnyxApi } from './api.ts';
import { SimulatedTelnyxCall } from './call.ts';

/** The legs of simulated calls are A-law, as in Europe and India, whatever is sent to them. */
export const simulatedTelnyx: SimulatedCarrier = {
  name: 'telnyx',
  async open(options) {
    const api = await SimulatedTelnyxApi.start(options);
    return {
      env: {
        OFFHOOK_TELNYX_PUBLIC_KEY: SimulatedTelnyxApi.publicKey,
        OFFHOOK_TELNYX_API_KEY: api.apiKey,
        OFFHOOK_TELNYX_CONNECTION_ID: api.connectionId,
        OFFHOOK_TELNYX_API_URL: api.url,
      },
      place: (call) => place(api, call),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
};

async function place(api: SimulatedTelnyxApi, options: PlaceOptions): Promise<SimulatedCarrierCall> {
  const { url, connectTo, clock, bot, from = '+447700900000', to = '+442079460000', carrierCallId, stream } = options;
  const path = `/carriers/telnyx/voice${bot === undefined ? '' : `/${encodeURIComponent(bot)}`}`;
  const call = new SimulatedTelnyxCall({
    clock,
    sign: api.sign,
    webhookUrl: new URL(path, url).href,
    reached: { url, connectTo },
    direction: 'incoming',
    from,
    to,
    carrierCallId,
    stream,
  });
  api.register(call);
  await call.tell('call.initiated', { direction: 'incoming', state: 'parked' }).catch((error: unknown) => {
    throw new CallRefused('the webhook was not taken', call.said, error);
  });
  await call.until(() => call.isOver || call.stream?.open === true || call.streamProblem !== undefined);
  if (call.stream === undefined) {
    await call.hangUp();
    throw new CallRefused(
      `the call got no media stream${call.streamProblem === undefined ? '' : `: ${call.streamProblem}`}`,
      call.said,
    );
  }
  return {
    carrierCallId: call.callControlId,
    get line() {
      if (call.stream === undefined) throw new Error('the call has no media stream');
      return call.stream;
    },
    said: call.said,
    digits: call.digits,
    get dialled() {
      return call.dialled;
    },
    ended: call.ended,
    hangUp: () => call.hangUp(),
  };
}
