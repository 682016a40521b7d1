import { createHash, timingSafeEqual } from 'node:crypto';
import { inspect } from 'node:util';

/** A value that never prints: every way to show it gives `[secret]`. Only `reveal` gives the value away. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  /** Whether this is the text, in a time that tells nothing of where they differ. */
  equals(text: string): boolean {
    const digest = (value: string): Buffer => createHash('sha256').update(value).digest();
    return timingSafeEqual(digest(this.#value), digest(text));
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

/** Lists are empty and single secrets undefined when they were not given. */
export interface Secrets {
  readonly speechApiKeys: readonly Secret[];
  /** The first seals, any opens; empty for the data folder's own. */
  readonly masterKeys: readonly Secret[];
  /** Password of the pages under `/admin`. */
  readonly adminPassword: Secret | undefined;
  /** The console's secret at its OpenID Connect issuer. */
  readonly openidClientSecret: Secret | undefined;
  readonly databaseUrl: Secret | undefined;
  readonly redisUrl: Secret | undefined;
  /** Access to the S3-compatible store of recordings. */
  readonly s3AccessKeyId: Secret | undefined;
  readonly s3SecretAccessKey: Secret | undefined;
  /** Access to the S3-compatible store of the audit logs' heads. */
  readonly auditS3AccessKeyId: Secret | undefined;
  readonly auditS3SecretAccessKey: Secret | undefined;
  /** Headers of exported traces. */
  readonly otlpHeaders: Secret | undefined;
}

/** Splits a comma-separated list of secrets; blanks around and between are dropped. */
export function secretList(text: string | undefined): Secret[] {
  return (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map((part) => new Secret(part));
}
