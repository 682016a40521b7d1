import type { z } from 'zod';
import type { AdapterConfig } from '../../config/setting.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../observability/logger.ts';
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
  problems?(config: AdapterConfig): readonly { readonly setting: string; readonly message: string }[];
  /** @returns undefined where it is not configured @throws SpeechRequestError for settings that cannot work */
  open(config: AdapterConfig, parts: VendorParts): OpenVendor | undefined;
}
