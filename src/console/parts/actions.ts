import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';

/** What can be done from anywhere on a page: a line of the palette, and of the keyboard help where it has keys. */
export interface Action {
  /** In the reader's language: `Next call`. */
  readonly name: string;
  /** `j`, `?` or `mod+k`, where `mod` is Ctrl, or Cmd on a Mac. */
  readonly keys?: string;
  readonly run: () => void;
}

/** Actions of what is on the page now, the shell's own first. */
let given: readonly { readonly of: symbol; readonly actions: readonly Action[] }[] = [];
let shown: readonly Action[] = [];
const listeners = new Set<() => void>();

function set(next: typeof given): void {
  given = next;
  shown = given.flatMap(({ actions }) => actions);
  for (const listener of listeners) listener();
}

/** Offers actions for as long as the component stands. What they run is that of the last drawing; names and keys may change too. */
export function useActions(actions: readonly Action[]): void {
  const latest = useRef(actions);
  useLayoutEffect(() => {
    latest.current = actions;
  });
  const [of] = useState(() => Symbol('actions'));
  const signature = JSON.stringify(actions.map(({ name, keys }) => [name, keys]));
  useEffect(() => {
    const named = latest.current.map((action, at) => ({ ...action, run: () => latest.current[at]?.run() }));
    set([...given.filter((each) => each.of !== of), { of, actions: named }]);
    return () => set(given.filter((each) => each.of !== of));
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a ref tells nothing of its changes: names and keys do
  }, [of, signature]);
}

/** Every action that there is now. */
export function useOfferedActions(): readonly Action[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

/** Runs actions by their keys. Single letters do nothing while text is typed or a dialog is open. Once, in the shell. */
export function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey, altKey, target, defaultPrevented, repeat, isComposing } = event;
      if (defaultPrevented || altKey || repeat || isComposing) return;
      const isMod = ctrlKey || metaKey;
      if (!isMod && isTyping(target)) return;
      const pressed = `${isMod ? 'mod+' : ''}${key.toLowerCase()}`;
      const action = shown.findLast(({ keys }) => keys === pressed);
      if (action === undefined) return;
      event.preventDefault();
      action.run();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (document.querySelector('[role="dialog"][aria-modal="true"]') !== null) return true;
  // A slider takes no letters.
  if (target instanceof HTMLInputElement) return !['range', 'checkbox', 'radio', 'button', 'submit'].includes(target.type);
  return target.isContentEditable || target.matches('textarea, select, [role="textbox"], [role="listbox"], [role="menu"] *');
}
