declare module '@echogarden/rnnoise-wasm' {
  import type { RnnoiseModule } from './rnnoise-model.ts';

  const load: () => Promise<RnnoiseModule>;
  export default load;
}
