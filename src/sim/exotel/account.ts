import { randomBytes } from 'node:crypto';
import { errorText } from '../../kernel/errors.ts';
import { reachedAddress } from '../carrier-wire.ts';
import { CallRefused } from '../errors.ts';
import { SimulatedExotelApi } from './api.ts';
import { SimulatedExotelStream } from './stream.ts';
import type { PlaceOptions, SimulatedCarrier, SimulatedCarrierCall } from '../simulated-carrier.ts';

const IDS = { accountSid: 'simulated1', apiKey: 'key-of-the-simulated-account', apiToken: 'token-of-the-simulated-account' };
const USER = 'offhook';
const PASSWORD = 'of-the-simulated-account';

export const simulatedExotel: SimulatedCarrier = {
  name: 'exotel',
  async open(options) {
    const api = await SimulatedExotelApi.start(IDS, options);
    return {
      env: {
        OFFHOOK_EXOTEL_STREAM_PASSWORD: PASSWORD,
        OFFHOOK_EXOTEL_ACCOUNT_SID: IDS.accountSid,
        OFFHOOK_EXOTEL_API_KEY: IDS.apiKey,
        OFFHOOK_EXOTEL_API_TOKEN: IDS.apiToken,
        OFFHOOK_EXOTEL_API_URL: api.url,
      },
      place: (call) => place(call, { user: USER, password: PASSWORD, rateHz: 8_000 }),
      [Symbol.asyncDispose]: () => api[Symbol.asyncDispose](),
    };
  },
  place(options) {
    const { streamUser, sampleRateHz } = options.settings;
    const user = typeof streamUser === 'string' ? streamUser : USER;
    return place(options, { user, password: options.proof, rateHz: typeof sampleRateHz === 'number' ? sampleRateHz : 8_000 });
  },
};

interface VoicebotApplet {
  readonly user: string;
  readonly password: string;
  readonly rateHz: number;
}

/** A flow with one Voicebot applet and nothing behind it: the call ends with its media socket. */
async function place(options: PlaceOptions, { user, password, rateHz }: VoicebotApplet): Promise<SimulatedCarrierCall> {
  const {
    url,
    bot,
    clock,
    from = '+919876543210',
    to = '08047491899',
    carrierCallId = randomBytes(16).toString('hex'),
  } = options;
  const path = `/carriers/exotel/media${bot === undefined ? '' : `/${encodeURIComponent(bot)}`}?sample-rate=${rateHz}`;
  const target = {
    url: reachedAddress(url.replace(/^http/iu, 'ws') + path, options),
    credentials: `${user}:${password}`,
    callSid: carrierCallId,
    accountSid: IDS.accountSid,
    from,
    to,
  };
  const line = await SimulatedExotelStream.open(target, clock, options.stream).catch((error: unknown) => {
    throw new CallRefused(`the media socket was refused: ${errorText(error)}`, [], error);
  });
  return {
    carrierCallId,
    line,
    said: [],
    digits: [],
    dialled: undefined,
    ended: line.ended,
    hangUp() {
      line.stop();
      return line.ended.then(() => undefined);
    },
  };
}
