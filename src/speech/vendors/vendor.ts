import { isIP } from 'node:net';
import type { z } from 'zod';
import type { AdapterConfig } from '../../config/setting.ts';
import type { Clock } from '../../kernel/clock.ts';
import { isPublicAddress } from '../../kernel/public-address.ts';
import type { Logger } from '../../observability/logger.ts';
import { SpeechRequestError } from '../client/errors.ts';
import type { Recogniser, Synthesizer } from '../port.ts';

/** What a vendor's own functions get of the process. */
export interface VendorParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** The process's own when absent. */
  readonly fetch?: typeof fetch | undefined;
}

/** A published price, for the docs and `offhook doctor`. */
export interface VendorPrice {
  readonly service: 'recognition' | 'synthesis';
  /** The model, as the vendor names it. */
  readonly model: string;
  /** As published, with currency and unit: `USD 0.0077 a minute`. */
  readonly price: string;
  readonly source: string;
  /** Day on which the source said so, `YYYY-MM-DD`. */
  readonly asOf: string;
}

/** A vendor with its configuration. Closing it ends its sessions. */
export interface OpenVendor extends AsyncDisposable {
  /** Undefined where the vendor has no such service, or it is not configured. */
  readonly recogniser: Recogniser | undefined;
  readonly synthesizer: Synthesizer | undefined;
  /** API keys over which it spreads its sessions, each with the limits of its capabilities; 1 when absent. */
  readonly keys?: number;
  /** Opens connections ahead of a call, so that its first sentence does not wait for them. */
  warm?(): void;
}

export interface VendorProblem {
  readonly setting: string;
  readonly message: string;
}

/**
 * One vendor of speech, whole: everything else knows vendors by this alone. To be listed in `registry.ts`. The speech platform is
 * not among them: it is the default, under the name `platform`.
 * @see docs/adding-a-speech-vendor.md
 */
export interface SpeechVendor {
  /** In settings, bot files, records and logs; lower case letters. */
  readonly name: string;
  /** As people write it. */
  readonly title: string;
  /** Below its name, as `settingFacts` describes each. */
  readonly settings: z.ZodObject;
  readonly secrets: z.ZodObject;
  /** What it can do for people who choose; one line each. */
  readonly services: readonly ('recognition' | 'synthesis')[];
  readonly prices: readonly VendorPrice[];
  /** Environment name, or names, of what is needed to use it. */
  readonly needs: string;
  /** What is wrong between its settings. */
  problems?(config: AdapterConfig): readonly VendorProblem[];
  /** @returns undefined where it is not configured @throws SpeechRequestError for settings that cannot work */
  open(config: AdapterConfig, parts: VendorParts): OpenVendor | undefined;
}

/** A vendor of both services that one API key opens, as its own file describes it: its functions take typed settings. */
interface KeyVendor<Schema extends z.ZodObject, Values = z.output<Schema> & { readonly baseUrl: string }> extends Omit<
  SpeechVendor,
  'services' | 'problems' | 'open'
> {
  /** With a `baseUrl`. */
  readonly settings: Schema;
  /** With an `apiKey`. */
  readonly secrets: z.ZodObject;
  /** Its address where `baseUrl` is not set. */
  readonly globalUrl: string;
  /** What is wrong beside an address at which the key would be sent unencrypted. */
  problems?(values: Values): readonly VendorProblem[];
  open(values: Values, apiKey: string, parts: VendorParts): OpenVendor;
}

/** Parses the settings once for each call of a vendor's functions. Without its key nothing of it is wrong, and it is not opened. */
export function keyVendor<Schema extends z.ZodObject & z.ZodType<{ baseUrl?: string | undefined }>>({
  globalUrl,
  ...described
}: KeyVendor<Schema>): SpeechVendor {
  const read = ({ settings, secrets }: AdapterConfig) => {
    const values = described.settings.parse(settings);
    return { values: { ...values, baseUrl: values.baseUrl ?? globalUrl }, apiKey: secrets['apiKey']?.[0]?.reveal() };
  };
  return {
    ...described,
    services: ['recognition', 'synthesis'],
    problems(config) {
      const { values, apiKey } = read(config);
      return apiKey === undefined ? [] : [...keyAddressProblems(values.baseUrl), ...(described.problems?.(values) ?? [])];
    },
    open(config, parts) {
      const { values, apiKey } = read(config);
      return apiKey === undefined ? undefined : described.open(values, apiKey, parts);
    },
  };
}

/** An open vendor whose services warm up and close by themselves. */
export function openVendor(
  recogniser: Recogniser & AsyncDisposable,
  synthesizer: Synthesizer & AsyncDisposable & { warm(): Promise<void> },
): OpenVendor {
  return {
    recogniser,
    synthesizer,
    warm: () => void synthesizer.warm(),
    async [Symbol.asyncDispose]() {
      await recogniser[Symbol.asyncDispose]();
      await synthesizer[Symbol.asyncDispose]();
    },
  };
}

/**
 * The locale of a language: `hi` is `hi-IN`, `en` is `en-US`, and one with a region stays as it is. Regions come from the likely
 * subtags of Unicode CLDR.
 * @see https://learn.microsoft.com/azure/ai-services/speech-service/language-support
 */
export function localeOf(language: string): string {
  const locale = new Intl.Locale(language);
  if (locale.region !== undefined) return locale.toString();
  const { region } = locale.maximize();
  return region === undefined ? locale.toString() : `${locale.language}-${region}`;
}

/**
 * Makes a service whose package is optional. Without it the vendor's other service still works.
 * @returns undefined, with a warning, where it cannot be made
 */
export function ifInstalled<Service>(make: () => Service, logger: Logger): Service | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof SpeechRequestError)) throw error;
    logger.warn({ error }, error.message);
    return undefined;
  }
}

/** Names that public name servers do not give out (RFC 6761, RFC 6762, RFC 8375, and ICANN's `internal`). */
const OWN_NAMES = /(?:^|\.)(?:localhost|local|internal|home\.arpa|lan|test)$/u;

/** Whether a host, as a URL names it, is on this machine or network by its name alone: no look-up is made. */
export function isOwnNetwork(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '');
  if (isIP(host) !== 0) return !isPublicAddress(host);
  // One label is the name of a machine, or of a container beside this one.
  return OWN_NAMES.test(host) || !host.includes('.');
}

/** What is wrong with an address at which a key is used: without TLS it may be used on this machine and network alone. */
export function keyAddressProblems(url: string, setting = 'baseUrl'): VendorProblem[] {
  const { protocol, hostname } = new URL(url);
  if (protocol === 'https:' || protocol === 'wss:' || isOwnNetwork(hostname)) return [];
  return [{ setting, message: `would send the key unencrypted: give ${protocol === 'ws:' ? 'a wss' : 'an https'} address` }];
}
