import { createRequire } from 'node:module';
import type * as Speech from '@google-cloud/speech';
import type * as TextToSpeech from '@google-cloud/text-to-speech';
import { z } from 'zod';
import { errorText } from '../../../kernel/errors.ts';
import {
  SpeechAuthError,
  SpeechBusyError,
  type SpeechError,
  SpeechRequestError,
  SpeechUnavailableError,
} from '../../client/errors.ts';

/** The last major of each that runs on Node 20. */
const PACKAGES = { recognition: '@google-cloud/speech@7', synthesis: '@google-cloud/text-to-speech@6' } as const;

interface Modules {
  readonly recognition: typeof Speech;
  readonly synthesis: typeof TextToSpeech;
}

/**
 * Loads one of Google's official clients, which must be installed beside Offhook to use Google.
 * @throws SpeechRequestError when it is not installed, or cannot be loaded
 */
export function loadClient<Service extends keyof Modules>(service: Service): Modules[Service] {
  const wanted = PACKAGES[service];
  const name = wanted.slice(0, wanted.lastIndexOf('@'));
  try {
    return createRequire(import.meta.url)(name) as Modules[Service];
  } catch (error) {
    const isMissing = error instanceof Error && 'code' in error && error.code === 'MODULE_NOT_FOUND';
    const why = isMissing ? `it is not installed: npm install --ignore-scripts ${wanted}` : errorText(error);
    throw new SpeechRequestError(`google ${service} needs the package ${name}: ${why}`, { cause: error });
  }
}

const serviceAccount = z.object({ client_email: z.string(), private_key: z.string(), project_id: z.string().optional() });

export interface GoogleAccount {
  /** The JSON key of a service account; the machine's own credentials when absent. */
  readonly credentials: string | undefined;
  /** `host:port` in place of Google's; one on this machine is spoken to without TLS. */
  readonly endpoint: string | undefined;
}

type ClientOptions = NonNullable<ConstructorParameters<typeof Speech.SpeechClient>[0]>;

/**
 * Options of a client.
 * @throws SpeechRequestError for a key that is not the JSON of a service account
 */
export function clientOptions(account: GoogleAccount, service: keyof Modules): ClientOptions {
  const { credentials, endpoint } = account;
  const [host, port] = endpoint?.split(':') ?? [];
  const where = host === undefined ? {} : { apiEndpoint: host, ...(port !== undefined && { port: Number(port) }) };
  // Without an account it would look for one in the network.
  if (host === '127.0.0.1' || host === 'localhost')
    return {
      ...where,
      sslCreds: insecure(service),
      projectId: 'local',
      credentials: { client_email: 'local', private_key: 'none' },
    };
  if (credentials === undefined) return where;
  const key = serviceAccount.safeParse(jsonOf(credentials));
  if (!key.success) throw new SpeechRequestError('google: the credentials are not the JSON key of a service account');
  const { client_email, private_key, project_id } = key.data;
  return { ...where, credentials: { client_email, private_key }, ...(project_id !== undefined && { projectId: project_id }) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const gax = z.object({
  grpc: z.object({
    credentials: z.object({
      createInsecure: z.custom<() => NonNullable<ClientOptions['sslCreds']>>((value) => typeof value === 'function'),
    }),
  }),
});

/** Credentials without TLS, of the gRPC that the client itself uses. */
function insecure(service: keyof Modules): NonNullable<ClientOptions['sslCreds']> {
  const wanted = PACKAGES[service];
  const client = createRequire(import.meta.url).resolve(wanted.slice(0, wanted.lastIndexOf('@')));
  return gax.parse(createRequire(client)('google-gax')).grpc.credentials.createInsecure();
}

const grpcError = z.object({ code: z.int(), details: z.string().optional(), message: z.string().optional() });

/** A failure in our words; undefined where a stream only became too old. @see https://grpc.io/docs/guides/status-codes/ */
export function errorOf(error: unknown, what: string): SpeechError | undefined {
  const read = grpcError.safeParse(error);
  const { code, details, message } = read.success ? read.data : { code: 2, details: undefined, message: errorText(error) };
  const said = `${what}: ${details ?? message ?? 'it failed'}`;
  switch (code) {
    case 3: // INVALID_ARGUMENT
    case 5: // NOT_FOUND
      return new SpeechRequestError(said, { cause: error });
    case 7: // PERMISSION_DENIED
    case 16: // UNAUTHENTICATED
      return new SpeechAuthError(said, { cause: error });
    case 8: // RESOURCE_EXHAUSTED
      return new SpeechBusyError(said, { cause: error });
    case 11: // OUT_OF_RANGE: longer than a stream may be, or too long without audio
      return undefined;
    default:
      return new SpeechUnavailableError(said, { cause: error });
  }
}
