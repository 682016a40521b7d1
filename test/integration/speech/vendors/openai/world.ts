import { Secret } from '../../../../../src/config/secrets.ts';
import { silentLogger } from '../../../../../src/observability/logger.ts';
import { openai } from '../../../../../src/speech/vendors/openai/vendor.ts';
import type { OpenVendor } from '../../../../../src/speech/vendors/vendor.ts';
import { quickClock } from '../../../../support/quick-clock.ts';
import { type OpenAiServer, type OpenAiServerOptions, startOpenAi } from '../../../../support/vendors/openai.ts';
import { type ScriptedEngines, scriptedEngines } from '../../../../support/vendors/scripted-engines.ts';

export const KEY = 'sk-test-5ecret-of-the-account';

export interface World extends AsyncDisposable {
  readonly server: OpenAiServer;
  readonly engines: ScriptedEngines;
  readonly vendor: OpenVendor;
}

/** A server of one's own with both services, and the vendor that uses it. */
export async function startWorld(
  options: Partial<OpenAiServerOptions> & { readonly texts?: readonly string[] } = {},
  settings: Record<string, unknown> = {},
  /** How many times as fast the vendor's clock goes: its waits and limits are that much shorter. */
  times = options.fault === undefined && options.socketFault === undefined ? 1 : 3,
): Promise<World> {
  const engines = scriptedEngines(...(options.texts ?? []));
  const server = await startOpenAi({ engines, ...options });
  const vendor = openai.open(
    {
      settings: openai.settings.parse({
        baseUrl: server.url,
        recognitionModel: 'Systran/faster-whisper-small',
        synthesisModel: 'kokoro',
        ...settings,
      }),
      secrets: { apiKey: options.apiKey === undefined ? [] : [new Secret(options.apiKey)] },
    },
    { clock: quickClock(times), logger: silentLogger },
  );
  if (vendor === undefined) throw new Error('the vendor is not configured');
  return {
    server,
    engines,
    vendor,
    async [Symbol.asyncDispose]() {
      await vendor[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
