import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';
import { SimulatedVonageApi } from './api.ts';
import { dialVonage, type SimulatedVonageCall } from './carrier.ts';

const APPLICATION = '8f8ac51e-5a0a-4a4e-9d0c-0f3c9f2b7a11';
const SIGNATURE_SECRET = 'of-the-simulated-account';

export const simulatedVonage: SimulatedCarrier = {
  name: 'vonage',
  async open(options) {
    const api = await SimulatedVonageApi.start(APPLICATION, { ...options, signatureSecret: SIGNATURE_SECRET });
    return {
      env: {
        OFFHOOK_VONAGE_APPLICATION_ID: APPLICATION,
        OFFHOOK_VONAGE_PRIVATE_KEY: api.privateKey,
        OFFHOOK_VONAGE_SIGNATURE_SECRET: SIGNATURE_SECRET,
        OFFHOOK_VONAGE_API_URL: api.url,
      },
      async place(call) {
        const placed = await dial(call, SIGNATURE_SECRET, APPLICATION);
        api.register(placed);
        return asCall(placed);
      },
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
  async place(options) {
    const { applicationId } = options.settings;
    return asCall(await dial(options, options.proof, typeof applicationId === 'string' ? applicationId : APPLICATION));
  },
};

function dial(options: PlaceOptions, signatureSecret: string, applicationId: string): Promise<SimulatedVonageCall> {
  const { from, to, carrierCallId: uuid, ...rest } = options;
  // Vonage's numbers have no plus.
  return dialVonage({ ...rest, uuid, from: from?.replace('+', ''), to: to?.replace('+', ''), signatureSecret, applicationId });
}

function asCall(call: SimulatedVonageCall): SimulatedCarrierCall {
  return {
    carrierCallId: call.uuid,
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
