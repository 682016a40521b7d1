import { type AudioFormat, TELEPHONE_FORMAT } from '../audio/format.ts';
import { devSecretsPath, ensureDevSecret, readDevSecret } from '../config/own-secrets.ts';
import type { Secret } from '../config/secrets.ts';
import { accountName, tenantOfAccount } from '../config/tenant-id.ts';
import type { AdapterConfig, AdapterConfigs } from '../config/setting.ts';
import { systemClock } from '../kernel/clock.ts';
import type { Logger } from '../observability/logger.ts';
import type { Carrier, CarrierDoor, CarrierParts } from './carrier.ts';
import type { MediaCodec } from './media-codec.ts';
import type { CallControl } from './port.ts';
import { carriers as every } from './registry.ts';

/** A carrier with its configuration. */
export interface OpenCarrier {
  /** The carrier; a tenant's own account has that account's name. */
  readonly carrier: Carrier;
  /** Prefix of its addresses at this gateway: `/carriers/twilio`, or `/tenants/acme/carriers/twilio`. */
  readonly route: string;
  /** Public base address of this account, without a trailing slash; the gateway's where undefined. */
  readonly publicUrl: string | undefined;
  readonly door: CarrierDoor;
  /** Its proof is a development secret: requests from other machines are refused, even signed ones. */
  readonly loopbackOnly: boolean;
  readonly startTimeoutMs: number;
  /** The media protocol of one socket. */
  readonly codec: () => MediaCodec;
  readonly control: CallControl | undefined;
  /** Expected playout format before a leg has started. */
  readonly speechFormat: AudioFormat;
}

/** By name; a tenant's own account by `accountName`. */
export type OpenCarriers = ReadonlyMap<string, OpenCarrier>;

export interface OpenCarriersOptions extends CarrierParts {
  readonly configs: AdapterConfigs;
  readonly dataDir: string;
  readonly logger: Logger;
  /** The registry's when absent. */
  readonly carriers?: readonly Carrier[] | undefined;
}

/**
 * All carriers as configured. One without a secret uses a development secret from the data folder, accepted from this machine only; the log says so
 * where all do.
 * @throws the file system's error when the development secret cannot be made or read
 */
export function openCarriers(options: OpenCarriersOptions): OpenCarriers {
  const { configs, dataDir, logger, carriers = every } = options;
  if (!takesCarrierCalls(configs, carriers)) {
    const names = carriers.flatMap(({ proof }) => proof?.envName ?? []).join(' or ');
    logger.warn(
      { file: devSecretsPath(dataDir) },
      `no carrier secret is set (${names}): using a development secret, accepted only from this machine`,
    );
  }
  return new Map(
    accountsOf(configs, carriers).map(({ carrier, config, tenant }): [string, OpenCarrier] => {
      const { name, proof } = carrier;
      const given = proof === undefined ? [] : (config.secrets[proof.secret] ?? []);
      const proofs = given.length > 0 || proof === undefined ? given : [ensureDevSecret(dataDir, name, proof.secret)];
      const { publicUrl } = config;
      const above = tenant === undefined ? '' : `/tenants/${tenant}`;
      const { reported } = options;
      const parts: CarrierParts = {
        clock: options.clock,
        // Base of the addresses that a carrier writes.
        gatewayUrl: () => `${publicUrl ?? options.gatewayUrl()}${above}`,
        ...(reported === undefined ? {} : { reported: (callId, report) => reported(callId, { ...report, carrier: name }) }),
      };
      const open = {
        carrier,
        route: `${above}/carriers/${tenant === undefined ? name : name.slice(0, name.indexOf('@'))}`,
        publicUrl,
        speechFormat: speechFormatOf(carrier, config),
        door: carrier.door(config, proofs, parts),
        loopbackOnly: proof !== undefined && given.length === 0,
        startTimeoutMs: carrier.startTimeoutMs(config),
        codec: () => carrier.codec(config),
        control: carrier.control(config, parts),
      };
      return [name, open];
    }),
  );
}

/** One account of a carrier; a tenant's own has its own name. */
interface CarrierAccount {
  readonly carrier: Carrier;
  readonly config: AdapterConfig;
  /** Undefined for the gateway's own. */
  readonly tenant: string | undefined;
}

/** The gateway's own account at each carrier, then those of its tenants. */
function accountsOf(configs: AdapterConfigs, carriers: readonly Carrier[]): CarrierAccount[] {
  const own = carriers.map((carrier) => ({ carrier, config: configOf(carrier, configs), tenant: undefined }));
  const ofTenants = [...configs].flatMap(([name, config]): CarrierAccount[] => {
    const tenant = tenantOfAccount(name);
    const carrier = carriers.find((each) => tenant !== undefined && accountName(each.name, tenant) === name);
    return carrier === undefined ? [] : [{ carrier: { ...carrier, name }, config, tenant }];
  });
  return [...own, ...ofTenants];
}

/**
 * The secret that proves a carrier: the configured one, or the development secret.
 * @throws the file system's error when there is neither; TypeError for a carrier without a secret
 */
export function proofOf(
  carrierName: string,
  { settings, carriers: configs }: { readonly settings: { readonly dataDir: string }; readonly carriers: AdapterConfigs },
): Secret {
  const carrier = every.find(({ name }) => name === carrierName);
  if (carrier?.proof === undefined) throw new TypeError(`there is no carrier ${carrierName} with a secret`);
  const { secret } = carrier.proof;
  return configs.get(carrierName)?.secrets[secret]?.[0] ?? readDevSecret(settings.dataDir, carrierName, secret);
}

/** Formats to prepare stock phrases in: those of the configured carriers, or of most telephone legs. */
export function speechFormats(configs: AdapterConfigs, carriers: readonly Carrier[] = every): readonly AudioFormat[] {
  const configured = accountsOf(configs, carriers).filter(({ carrier }) => isConfigured(carrier, configs));
  const wanted = configured.map(({ carrier, config }) => speechFormatOf(carrier, config));
  const formats = wanted.length === 0 ? [TELEPHONE_FORMAT] : wanted;
  return [...new Map(formats.map((format) => [`${format.encoding} ${format.rateHz}`, format])).values()];
}

/** Whether any carrier's secret is configured, so that real calls can arrive. */
export function takesCarrierCalls(configs: AdapterConfigs, carriers: readonly Carrier[] = every): boolean {
  return accountsOf(configs, carriers).some(({ carrier }) => isConfigured(carrier, configs));
}

/** Whether any carrier's account is configured, so that calls can be acted on. */
export function hasControl(configs: AdapterConfigs, carriers: readonly Carrier[] = every): boolean {
  return accountsOf(configs, carriers).some(({ carrier }) => controlOf(carrier, configs) !== undefined);
}

/** Names of the carriers with an account that places calls. */
export function diallingCarriers(configs: AdapterConfigs, carriers: readonly Carrier[] = every): readonly string[] {
  const dials = ({ carrier }: CarrierAccount): boolean => controlOf(carrier, configs)?.dialling !== undefined;
  return accountsOf(configs, carriers)
    .filter(dials)
    .map(({ carrier }) => carrier.name);
}

/** Environment names needed to act on calls, for all carriers. */
export function controlEnvNames(carriers: readonly Carrier[] = every): string {
  return carriers.flatMap(({ controlEnvName }) => controlEnvName ?? []).join(' or ');
}

/** Whether the carrier's secret is configured, so that its calls are accepted from anywhere. */
export function isConfigured({ name, proof }: Carrier, configs: AdapterConfigs): boolean {
  return proof !== undefined && (configs.get(name)?.secrets[proof.secret] ?? []).length > 0;
}

/** Call control of a configured carrier, for uses outside calls; undefined without its account. */
export function controlOf(carrier: Carrier, configs: AdapterConfigs, clock = systemClock): CallControl | undefined {
  return carrier.control(configOf(carrier, configs), { clock, gatewayUrl: () => '' });
}

function speechFormatOf(carrier: Carrier, config: AdapterConfig): AudioFormat {
  return carrier.speechFormatOf?.(config) ?? carrier.speechFormat;
}

function configOf(carrier: Carrier, configs: AdapterConfigs): AdapterConfig {
  return configs.get(carrier.name) ?? { settings: carrier.settings.parse({}), secrets: {} };
}

/** Names of the carriers that can be asked to send a copy of a call between people to an address. Others open the stream by themselves. */
export function listeningCarriers(open: OpenCarriers): readonly string[] {
  const listens = ({ carrier, door, control }: OpenCarrier): boolean =>
    carrier.offers.listens && (door.kind === 'webhook' || control?.fork !== undefined);
  return [...open.values()].filter(listens).map(({ carrier }) => carrier.name);
}

/** How far a carrier is configured: its calls are accepted from anywhere, and its account can act on them. */
export type Configured = 'no' | 'calls' | 'calls and control' | 'control';

export function configuredFor(carrier: Carrier, configs: AdapterConfigs): Configured {
  const parts = [
    ...(carrier.proof === undefined || isConfigured(carrier, configs) ? ['calls'] : []),
    ...(controlOf(carrier, configs) === undefined ? [] : ['control']),
  ];
  return parts.length === 0 ? 'no' : (parts.join(' and ') as Configured);
}

const yes = (is: boolean): string => (is ? 'yes' : 'no');

/** A carrier's abilities in a few words each, by table heading. */
export function carrierFacts({ capabilities, offers }: Carrier): Readonly<Record<string, string>> {
  return {
    'audio in': offers.audio.from,
    'audio out': offers.audio.to,
    'proves webhooks by': offers.proof.webhook,
    'proves sockets by': offers.proof.socket,
    'takes audio back': yes(capabilities.clear === 'native'),
    marks: yes(capabilities.marks === 'native'),
    'keys out': capabilities.dtmfOut,
    dials: yes(offers.dials),
    'detects machines': yes(offers.detectsMachines),
    transfer: offers.transfer,
    'joins calls': yes(offers.joins),
    listens: yes(offers.listens),
    'goes on': yes(capabilities.comesBack === true),
  };
}
