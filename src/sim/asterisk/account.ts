import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { type MediaTarget, SimulatedAsterisk, SimulatedAsteriskCall } from './api.ts';
import type { AccountOptions, PlaceAtOptions, SimulatedAccount, SimulatedCarrier } from '../simulated-carrier.ts';

const PASSWORD = 'of-the-simulated-asterisk';
const ARI_PASSWORD = 'of-its-rest-interface';

export const simulatedAsterisk: SimulatedCarrier = {
  name: 'asterisk',
  open: (options) => account('ASTERISK', options, { way: 'websocket', password: PASSWORD, form: 'words' }),
  place: (options) => placeAt(options, { way: 'websocket', password: options.proof, form: 'json' }),
};

export const simulatedAudiosocket: SimulatedCarrier = {
  name: 'audiosocket',
  async open(options) {
    const port = await freePort();
    return account(
      'AUDIOSOCKET',
      options,
      { way: 'audiosocket', password: PASSWORD, port },
      { OFFHOOK_AUDIOSOCKET_PORT: `${port}` },
    );
  },
  place: (options) => placeAt(options, { way: 'audiosocket', password: options.proof, port: Number(options.settings['port']) }),
};

async function account(
  name: string,
  { clock, onDial }: AccountOptions,
  target: MediaTarget,
  more: Readonly<Record<string, string>> = {},
): Promise<SimulatedAccount> {
  const asterisk = await SimulatedAsterisk.start({ clock, onDial, username: 'offhook', ariPassword: ARI_PASSWORD, target });
  return {
    env: {
      [`OFFHOOK_${name}_PASSWORD`]: PASSWORD,
      [`OFFHOOK_${name}_ARI_URL`]: asterisk.url,
      [`OFFHOOK_${name}_ARI_PASSWORD`]: ARI_PASSWORD,
      ...more,
    },
    place: (call) => asterisk.place(call),
    [Symbol.asyncDispose]: () => asterisk[Symbol.asyncDispose](),
  };
}

async function placeAt(options: PlaceAtOptions, target: MediaTarget): Promise<SimulatedAsteriskCall> {
  const id = options.carrierCallId ?? `${Math.floor(options.clock.wallMs() / 1000)}.1`;
  const call = new SimulatedAsteriskCall(id, target);
  await call.connect(options);
  return call;
}

/** The gateway listens there later: nobody else is given the same one soon. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
