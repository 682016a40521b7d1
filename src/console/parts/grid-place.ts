import { type RefObject, useLayoutEffect, useRef, useState } from 'react';
import type { Sorting } from './grid-sorting.ts';

/** Where somebody was in a grid when they left it. */
export interface Place {
  readonly activeId: string;
  readonly topPx: number;
  readonly sorting: readonly Sorting[];
}

/** By the name that the page's entry of the history has of it. */
const places = new Map<string, Place>();
const MOST_PLACES = 50;

function keepPlace(place: Place): void {
  const name = crypto.randomUUID();
  const [oldest] = places.keys();
  if (oldest !== undefined && places.size >= MOST_PLACES) places.delete(oldest);
  places.set(name, place);
  const state: unknown = history.state;
  history.replaceState({ ...(typeof state === 'object' ? state : {}), grid: name }, '');
}

/** The place that was kept with the page's entry of the history: there is one after going back to it. */
function keptPlace(): Place | undefined {
  const state: unknown = history.state;
  if (typeof state !== 'object' || state === null || !('grid' in state) || typeof state.grid !== 'string') return undefined;
  return places.get(state.grid);
}

/** The place in a grid that people come back to, and how to keep it before they leave. @param opensPage whether rows lead to another page */
export function useGridPlace(scroller: RefObject<HTMLElement | null>, opensPage: boolean) {
  const [kept] = useState(() => (opensPage ? keptPlace() : undefined));
  // Ends and begins again, too, where the grid is hidden while the page behind it loads, which takes its scroll and its focus.
  const place = useRef({ topPx: kept?.topPx ?? 0, hasFocus: kept !== undefined });
  useLayoutEffect(() => {
    const grid = scroller.current;
    if (grid === null) return undefined;
    const { topPx, hasFocus } = place.current;
    if (topPx > 0) grid.scrollTo({ top: topPx });
    // Back from a row's page, the keyboard goes on at that row.
    if (hasFocus) grid.focus({ preventScroll: true });
    return () => {
      place.current = { topPx: grid.scrollTop, hasFocus: document.activeElement === grid };
    };
  }, [scroller]);
  const keep = (activeId: string, sorting: readonly Sorting[]): void => {
    if (opensPage) keepPlace({ activeId, topPx: scroller.current?.scrollTop ?? 0, sorting });
  };
  return { kept, keep };
}
