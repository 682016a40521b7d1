import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';
import { randomUUID } from 'node:crypto';
import { SIGNALWIRE_HEADER, SimulatedTwilioApi } from './api.ts';
import { dialTwilio, newCallSid, type SimulatedCall } from './carrier.ts';

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

const PROJECT = 'f4d1c1a0-8f0e-4a3b-9c63-1d6c1f7f2a11';
const API_TOKEN = 'PT-of-the-simulated-project';
const SIGNING_KEY = 'PSK-of-the-simulated-project';

/** SignalWire looks like Twilio from outside: other ids, header, host and codecs, and a stream that is named in its start alone. */
export const simulatedSignalwire: SimulatedCarrier = {
  name: 'signalwire',
  newCallId: randomUUID,
  async open(options) {
    const api = await SimulatedTwilioApi.start(PROJECT, API_TOKEN, { ...options, signalwire: { signingKey: SIGNING_KEY } });
    return {
      env: {
        OFFHOOK_SIGNALWIRE_SIGNING_KEY: SIGNING_KEY,
        OFFHOOK_SIGNALWIRE_PROJECT_ID: PROJECT,
        OFFHOOK_SIGNALWIRE_API_TOKEN: API_TOKEN,
        OFFHOOK_SIGNALWIRE_SPACE_URL: api.url,
      },
      async place(call) {
        const placed = await dialSignalwire(call, SIGNING_KEY);
        api.register(placed);
        return asCall(placed);
      },
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
  place: async (options) => asCall(await dialSignalwire(options, options.proof)),
};

function dialSignalwire(options: PlaceOptions, signingKey: string): Promise<SimulatedCall> {
  const { carrierCallId: callSid = randomUUID(), stream, ...rest } = options;
  const own = { carrier: 'signalwire', header: SIGNALWIRE_HEADER, accountSid: PROJECT, stream: { ...stream, signalwire: true } };
  return dialTwilio({ ...rest, ...own, callSid, authToken: signingKey });
}

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
    get digits() {
      return [...call.playedDigits, ...call.streams.flatMap(({ digits }) => digits)];
    },
    get dialled() {
      return call.dialled;
    },
    ended: call.ended,
    hangUp: () => call.hangUp(),
  };
}
