import { z } from 'zod';

/** What the thread (and the probe) of the user's models is started with. */
export const threadDataSchema = z.object({
  modelsFolder: z.string(),
  models: z.array(
    z.object({ language: z.string(), encoder: z.string(), decoder: z.string(), joiner: z.string(), tokens: z.string() }),
  ),
});

export type ThreadData = z.infer<typeof threadDataSchema>;
