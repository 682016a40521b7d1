import type { Clock } from '../../../src/kernel/clock.ts';
import { simulatedCarriers } from '../../../src/sim/carriers.ts';
import type { LineOptions } from '../../../src/sim/carrier-line.ts';
import type { PlaceOptions, SimulatedAccount, SimulatedCarrierCall } from '../../../src/sim/simulated-carrier.ts';
import { startPatientClock } from '../../../src/kernel/patient-clock.ts';
import { type GatewayBench, startGatewayBench } from './gateway-bench.ts';

export interface CarrierBench extends AsyncDisposable {
  readonly bench: GatewayBench;
  readonly clock: Clock;
  /** Settings and secrets of all carriers together. */
  readonly env: Readonly<Record<string, string>>;
  /** A call through a simulated carrier. @throws CallRefused */
  place(name: string, stream?: LineOptions, more?: Partial<PlaceOptions>): Promise<SimulatedCarrierCall>;
}

/** One gateway that is configured for every simulated carrier, on a clock that makes no holes on a busy machine. */
export async function startCarrierBench(botModule: string): Promise<CarrierBench> {
  const patient = startPatientClock();
  const { clock } = patient;
  const accounts = new Map<string, SimulatedAccount>();
  for (const simulated of simulatedCarriers) accounts.set(simulated.name, await simulated.open({ clock }));
  const env = Object.assign({}, ...[...accounts.values()].map((account) => account.env)) as Record<string, string>;
  // Their lines are of several countries, and the bot's people of one.
  const bench = await startGatewayBench({ clock, env: { ...env, OFFHOOK_DIALLING__DESTINATIONS: 'any' }, botModule });
  return {
    bench,
    clock,
    env,
    async place(name, stream = {}, more = {}) {
      const account = accounts.get(name);
      if (account === undefined) throw new Error(`there is no simulated carrier ${name}`);
      return account.place({ url: bench.gateway.url, clock, stream: { lineNoise: 0, ...stream }, ...more });
    },
    async [Symbol.asyncDispose]() {
      await bench[Symbol.asyncDispose]();
      for (const account of accounts.values()) await account[Symbol.asyncDispose]();
      patient[Symbol.dispose]();
    },
  };
}
