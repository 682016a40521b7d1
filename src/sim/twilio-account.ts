import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from './simulated-carrier.ts';
import { SimulatedTwilioApi } from './twilio-api.ts';
import { dialTwilio, newCallSid, type SimulatedCall } from './twilio-carrier.ts';

const ACCOUNT = `AC${'5'.repeat(32)}`;
const AUTH_TOKEN = 'of-the-simulated-account';

export const simulatedTwilio: SimulatedCarrier = {
  name: 'twilio',
  newCallId: newCallSid,
  async open(options) {
    const api = await SimulatedTwilioApi.start(ACCOUNT, AUTH_TOKEN, options);
    return {
      env: {
        OFFHOOK_TWILIO_ACCOUNT_SID: ACCOUNT,
        OFFHOOK_TWILIO_AUTH_TOKEN: AUTH_TOKEN,
        OFFHOOK_TWILIO_API_URL: api.url,
      },
      async place(call) {
        const placed = await dial(call, AUTH_TOKEN);
        api.register(placed);
        return asCall(placed);
      },
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
  place: async (options) => asCall(await dial(options, options.proof)),
};

function dial(options: PlaceOptions, authToken: string): Promise<SimulatedCall> {
  const { carrierCallId: callSid, ...rest } = options;
  return dialTwilio({ ...rest, callSid, authToken, accountSid: ACCOUNT });
}

function asCall(call: SimulatedCall): SimulatedCarrierCall {
  return {
    carrierCallId: call.callSid,
    get line() {
      return call.stream;
    },
    said: call.said,
    digits: call.playedDigits,
    get dialled() {
      return call.dialled;
    },
    ended: call.ended,
    hangUp: () => call.hangUp(),
  };
}
