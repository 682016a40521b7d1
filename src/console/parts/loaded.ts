import { type ComponentType, lazy, type ReactNode } from 'react';

/** The program of a page did not come: the gateway does not answer, or it has another build by now. */
export class NotLoaded extends Error {}

/**
 * One component of a module, loaded when it is first shown. Where that fails, it throws `NotLoaded` to the page's boundary, which
 * loads the whole page anew: the browser keeps a failed import, and another build has other file names.
 */
export function loaded<Name extends string, Props extends object>(
  load: () => Promise<Readonly<Record<Name, (props: Props) => ReactNode>>>,
  name: Name,
): ComponentType<Props> {
  return lazy<(props: Props) => ReactNode>(async () => {
    try {
      return { default: (await load())[name] };
    } catch (cause) {
      throw new NotLoaded(`${name} was not loaded`, { cause });
    }
  }) as ComponentType<Props>; // lazy asks for the props of a component that it has not got yet
}
