import { workerData } from 'node:worker_threads';
import { z } from 'zod';
import { floatSamples } from '../../../audio/samples.ts';
import { serveThread } from './model-thread.ts';
import { threadDataSchema } from './open-models.ts';
import { clusteringThreshold, loadSherpa, openDiarizer, openEmbedder } from './sherpa.ts';

// The thread of speaker models: embeds voices, and diarizes.
const { modelsFolder, models } = threadDataSchema.parse(workerData);
const { embedding = '', segmentation } = models;
const sherpa = loadSherpa(modelsFolder);
const embedder = openEmbedder(sherpa, embedding);
const diarizer = segmentation === undefined ? undefined : openDiarizer(sherpa, segmentation, embedding);

const RATE_HZ = 16_000;
const pcm = z.instanceof(Int16Array);
const questionSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('embed'), pcm }),
  z.object({ type: z.literal('diarise'), pcm, most: z.int().min(1) }),
]);

serveThread((raw) => {
  const question = questionSchema.parse(raw);
  const samples = floatSamples(question.pcm);
  switch (question.type) {
    case 'embed': {
      const stream = embedder.createStream();
      stream.acceptWaveform({ samples, sampleRate: RATE_HZ });
      stream.inputFinished();
      // An external buffer cannot be sent to another thread.
      return embedder.compute(stream, false);
    }
    case 'diarise':
      if (diarizer === undefined) throw new Error('there is no segmentation model');
      diarizer.setConfig({ clustering: { numClusters: question.most, threshold: clusteringThreshold } });
      return diarizer.process(samples);
  }
});
