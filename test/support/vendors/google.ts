import { createRequire } from 'node:module';
import * as grpc from '@grpc/grpc-js';
import * as loader from '@grpc/proto-loader';
import { wavFile } from '../../../src/audio/wav.ts';
import type { SimulatedRecognition, VendorEngines } from './engines.ts';

export interface GoogleFaults {
  /** Ends the next streams with this status after so many audio messages. */
  readonly failAfterMessages?: number;
  readonly failWith?: { readonly code: number; readonly details: string };
  /** How many streams are ended so. */
  readonly failures?: number;
}

interface RecognizeRequest {
  readonly streamingConfig?: {
    readonly config: {
      readonly sampleRateHertz: number;
      readonly languageCode: string;
      readonly speechContexts: readonly { readonly phrases: readonly string[] }[];
    };
  };
  readonly audioContent?: Buffer;
}

interface SpeakRequest {
  readonly streamingConfig?: {
    readonly voice: { readonly name: string; readonly languageCode: string };
    readonly streamingAudioConfig: { readonly sampleRateHertz: number };
  };
  readonly input?: { readonly text: string };
}

function serviceOf(packageName: string, path: readonly string[]): grpc.ServiceDefinition {
  const json = createRequire(import.meta.url)(`${packageName}/build/protos/protos.json`) as Parameters<typeof loader.fromJSON>[0];
  const loaded = grpc.loadPackageDefinition(
    loader.fromJSON(json, { enums: String, longs: Number, defaults: true, oneofs: true }),
  );
  let found: unknown = loaded;
  for (const name of path) found = (found as Record<string, unknown>)[name];
  return (found as { service: grpc.ServiceDefinition }).service;
}

/** Google's Speech-to-Text and Text-to-Speech (v1, gRPC) from the other side, by their published protocol files. */
export class SimulatedGoogle implements AsyncDisposable {
  faults: GoogleFaults = {};
  /** Takes texts and says nothing. */
  isSilent = false;
  readonly opened: { readonly language: string; readonly hints: readonly string[] }[] = [];
  readonly spoken: { readonly voice: string; readonly text: string; readonly streamed: boolean }[] = [];
  /** Streams that the client gave up. */
  cancelled = 0;
  port = 0;
  readonly #engines: VendorEngines;
  readonly #server: grpc.Server = new grpc.Server();
  #failures = 0;

  private constructor(engines: VendorEngines) {
    this.#engines = engines;
    this.#server.addService(serviceOf('@google-cloud/speech', ['google', 'cloud', 'speech', 'v1', 'Speech']), {
      streamingRecognize: (call: grpc.ServerDuplexStream<RecognizeRequest, unknown>) => this.#recognise(call),
    });
    this.#server.addService(
      serviceOf('@google-cloud/text-to-speech', ['google', 'cloud', 'texttospeech', 'v1', 'TextToSpeech']),
      {
        streamingSynthesize: (call: grpc.ServerDuplexStream<SpeakRequest, unknown>) => this.#stream(call),
        synthesizeSpeech: (
          call: grpc.ServerUnaryCall<
            { input: { text: string }; voice: { name: string }; audioConfig: { sampleRateHertz: number } },
            unknown
          >,
          answer: grpc.sendUnaryData<unknown>,
        ) => void this.#whole(call, answer),
      },
    );
  }

  static async start(engines: VendorEngines): Promise<SimulatedGoogle> {
    const google = new SimulatedGoogle(engines);
    google.port = await new Promise<number>((resolve, reject) => {
      google.#server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, port) =>
        error === null ? resolve(port) : reject(error),
      );
    });
    return google;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }

  #recognise(call: grpc.ServerDuplexStream<RecognizeRequest, unknown>): void {
    let recognition: SimulatedRecognition | undefined;
    let messages = 0;
    let ended = false;
    const result = (text: string, isFinal: boolean): void =>
      void call.write({
        results: [{ alternatives: [{ transcript: text }], isFinal, languageCode: this.opened.at(-1)?.language }],
      });
    call.on('cancelled', () => {
      this.cancelled += 1;
      recognition?.close();
    });
    call.on('error', () => undefined);
    call.on('data', ({ streamingConfig, audioContent }: RecognizeRequest) => {
      if (streamingConfig != null) {
        const { languageCode, sampleRateHertz, speechContexts } = streamingConfig.config;
        const hints = speechContexts.flatMap(({ phrases }) => phrases);
        this.opened.push({ language: languageCode, hints });
        recognition = this.#engines.recognise({ language: languageCode, rateHz: sampleRateHertz, hints }, ({ type, text }) => {
          if (text !== '') result(text, type === 'final');
          if (type === 'final' && ended) call.end();
        });
        return;
      }
      messages += 1;
      const { failAfterMessages, failWith = { code: grpc.status.UNAVAILABLE, details: 'gone' }, failures = 1 } = this.faults;
      if (failAfterMessages !== undefined && messages >= failAfterMessages && this.#failures < failures) {
        this.#failures += 1;
        call.emit('error', failWith);
        return;
      }
      if (audioContent != null) recognition?.push(new Int16Array(Uint8Array.from(audioContent).buffer));
    });
    call.on('end', () => {
      ended = true;
      recognition?.commit();
    });
  }

  #stream(call: grpc.ServerDuplexStream<SpeakRequest, unknown>): void {
    let asked = { voice: '', rateHz: 0 };
    const said: Promise<void>[] = [];
    const speak = async (text: string): Promise<void> => {
      for await (const pcm of this.#engines.speak({ text, language: 'en', ...asked }))
        call.write({ audioContent: Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength) });
    };
    call.on('error', () => undefined);
    call.on('data', ({ streamingConfig, input }: SpeakRequest) => {
      if (streamingConfig != null)
        asked = { voice: streamingConfig.voice.name, rateHz: streamingConfig.streamingAudioConfig.sampleRateHertz };
      if (input == null) return;
      this.spoken.push({ voice: asked.voice, text: input.text, streamed: true });
      if (!this.isSilent) said.push(speak(input.text));
    });
    call.on('end', () => {
      if (!this.isSilent) void Promise.all(said).then(() => call.end());
    });
  }

  async #whole(
    {
      request,
    }: {
      readonly request: {
        readonly input: { readonly text: string };
        readonly voice: { readonly name: string };
        readonly audioConfig: { readonly sampleRateHertz: number };
      };
    },
    answer: grpc.sendUnaryData<unknown>,
  ): Promise<void> {
    const { input, voice, audioConfig } = request;
    this.spoken.push({ voice: voice.name, text: input.text, streamed: false });
    if (this.isSilent) return;
    const parts: Int16Array[] = [];
    const asked = { text: input.text, language: 'en', voice: voice.name, rateHz: audioConfig.sampleRateHertz };
    for await (const pcm of this.#engines.speak(asked)) parts.push(pcm);
    const samples = Int16Array.from(parts.flatMap((part) => [...part]));
    answer(null, { audioContent: wavFile(samples, audioConfig.sampleRateHertz) });
  }
}
