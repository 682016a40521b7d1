declare module '@echogarden/fvad-wasm' {
  import type { FvadModule } from './voice-activity.ts';

  const load: () => Promise<FvadModule>;
  export default load;
}
