/** What is laid out: boxes of one size, and ways between them, both in a fixed order. */
export interface LaidOut {
  readonly width: number;
  readonly height: number;
  /** Upper left corner of each box. */
  readonly boxes: ReadonlyMap<string, Point>;
  /** Points that a way runs through, from one box to the other; a way back to an earlier box runs along the left side. */
  readonly ways: readonly {
    readonly from: string;
    readonly to: string;
    readonly isBack: boolean;
    readonly points: readonly Point[];
  }[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

interface Way {
  readonly from: string;
  readonly to: string;
}

export interface BoxSize {
  readonly width: number;
  readonly height: number;
}

const GAP_X = 28;
const GAP_Y = 56;
const MARGIN = 24;
/** Room between boxes for a way that passes a layer. */
const PASSAGE = 16;
const SWEEPS = 6;

/** A box, or the passage of a way through a layer. */
interface Cell {
  readonly id: string;
  readonly width: number;
  /** Cells of the layers above and below that it is joined to. */
  readonly above: Cell[];
  readonly below: Cell[];
  layer: number;
  x: number;
}

/**
 * Lays a flow out in layers from its start down: no two boxes overlap, a way never runs down through a box, and the same flow
 * always looks the same.
 * @param ids each once; the first is the start
 */
export function layOut(ids: readonly string[], given: readonly Way[], size: BoxSize): LaidOut {
  const known = new Set(ids);
  const ways = given.filter(({ from, to }) => from !== to && known.has(from) && known.has(to));
  const back = backWays(ids, ways);
  const down = ways.filter((way) => !back.has(way));
  const layerOf = layers(ids, down);
  const cells = new Map(ids.map((id) => [id, cellOf(id, size.width, layerOf.get(id) ?? 0)]));
  const rows: Cell[][] = [];
  const put = (cell: Cell): Cell => {
    (rows[cell.layer] ??= []).push(cell);
    return cell;
  };
  for (const cell of cells.values()) put(cell);
  const routes = new Map<Way, Cell[]>();
  for (const way of down) {
    const [from, to] = [cells.get(way.from), cells.get(way.to)];
    if (from === undefined || to === undefined) continue;
    const route = [from];
    for (let layer = from.layer + 1; layer < to.layer; layer += 1)
      route.push(put(cellOf(`${way.from}>${way.to}`, PASSAGE, layer)));
    route.push(to);
    for (const [index, cell] of route.entries()) {
      const next = route[index + 1];
      if (next === undefined) continue;
      cell.below.push(next);
      next.above.push(cell);
    }
    routes.set(way, route);
  }
  order(rows);
  place(rows);
  const left = Math.min(...rows.flat().map(({ x }) => x), 0);
  // Ways back run here, each on a line of its own.
  const lane = MARGIN + (back.size === 0 ? 0 : 12 + 8 * Math.min(back.size, 8));
  for (const cell of rows.flat()) cell.x += lane - left;
  const yOf = (layer: number): number => MARGIN + layer * (size.height + GAP_Y);
  let lanes = 0;
  return {
    width: Math.max(...rows.flat().map(({ x, width }) => x + width), 0) + MARGIN,
    height: yOf(rows.length) - GAP_Y + MARGIN,
    boxes: new Map([...cells].map(([id, { x, layer }]) => [id, { x, y: yOf(layer) }])),
    ways: ways.map((way) => {
      const [from, to] = [cells.get(way.from), cells.get(way.to)];
      if (back.has(way) && from !== undefined && to !== undefined) {
        const x = lane - 12 - 8 * (lanes++ % 8);
        const [fromY, toY] = [yOf(from.layer) + size.height * 0.7, yOf(to.layer) + size.height * 0.3];
        const points = [
          { x: from.x, y: fromY },
          { x, y: fromY },
          { x, y: toY },
          { x: to.x, y: toY },
        ];
        return { ...way, isBack: true, points };
      }
      const points = (routes.get(way) ?? []).flatMap((cell, index, route) => {
        const x = cell.x + cell.width / 2;
        const [top, bottom] = [yOf(cell.layer), yOf(cell.layer) + size.height];
        if (index === 0) return [{ x, y: bottom }];
        return index === route.length - 1
          ? [{ x, y: top }]
          : [
              { x, y: top },
              { x, y: bottom },
            ];
      });
      return { ...way, isBack: false, points };
    }),
  };
}

function cellOf(id: string, width: number, layer: number): Cell {
  return { id, width, layer, above: [], below: [], x: 0 };
}

/** Ways that lead back to a box which led there: without them nothing goes in circles. */
function backWays(ids: readonly string[], ways: readonly Way[]): ReadonlySet<Way> {
  // Nothing stands above the start.
  const back = new Set<Way>(ways.filter(({ to }) => to === ids[0]));
  const state = new Map<string, 'open' | 'done'>();
  const from = new Map<string, Way[]>();
  for (const way of ways) if (!back.has(way)) from.set(way.from, [...(from.get(way.from) ?? []), way]);
  for (const root of ids) {
    if (state.has(root)) continue;
    // A walk without recursion: a flow may be a thousand states deep.
    const stack = [{ id: root, left: [...(from.get(root) ?? [])] }];
    state.set(root, 'open');
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const way = top.left.shift();
      if (way === undefined) {
        state.set(top.id, 'done');
        stack.pop();
      } else if (state.get(way.to) === 'open') back.add(way);
      else if (!state.has(way.to)) {
        state.set(way.to, 'open');
        stack.push({ id: way.to, left: [...(from.get(way.to) ?? [])] });
      }
    }
  }
  return back;
}

/** The longest way down to each box decides its layer; what is only jumped to stands below the start. */
function layers(ids: readonly string[], down: readonly Way[]): ReadonlyMap<string, number> {
  const layerOf = new Map<string, number>();
  const waiting = new Map(ids.map((id) => [id, down.filter(({ to }) => to === id).length]));
  const open = ids.filter((id) => waiting.get(id) === 0);
  for (const id of open) layerOf.set(id, id === ids[0] ? 0 : 1);
  for (let id = open.shift(); id !== undefined; id = open.shift()) {
    for (const way of down.filter(({ from }) => from === id)) {
      layerOf.set(way.to, Math.max(layerOf.get(way.to) ?? 0, (layerOf.get(id) ?? 0) + 1));
      const left = (waiting.get(way.to) ?? 0) - 1;
      waiting.set(way.to, left);
      if (left === 0) open.push(way.to);
    }
  }
  return layerOf;
}

/** Orders each layer by the middle of what its cells are joined to, down and up again: fewer ways cross. */
function order(rows: Cell[][]): void {
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) {
      const placeOf = new Map(
        rows.flatMap((each) => each.map((cell, index) => [cell, index / Math.max(1, each.length - 1)] as const)),
      );
      const middle = (cell: Cell): number => {
        const joined = isDown ? cell.above : cell.below;
        if (joined.length === 0) return placeOf.get(cell) ?? 0;
        return joined.reduce((sum, each) => sum + (placeOf.get(each) ?? 0), 0) / joined.length;
      };
      const wanted = new Map(row.map((cell) => [cell, middle(cell)]));
      row.sort((one, other) => (wanted.get(one) ?? 0) - (wanted.get(other) ?? 0));
    }
  }
}

/** Puts cells below what leads to them as far as their neighbours leave room. */
function place(rows: readonly (readonly Cell[])[]): void {
  for (const row of rows) spread(row, () => undefined);
  for (let sweep = 0; sweep < SWEEPS; sweep += 1) {
    const isDown = sweep % 2 === 0;
    for (const row of isDown ? rows : [...rows].reverse()) spread(row, (cell) => (isDown ? cell.above : cell.below));
  }
}

function spread(row: readonly Cell[], joinedTo: (cell: Cell) => readonly Cell[] | undefined): void {
  const wishes = row.map((cell) => {
    const joined = joinedTo(cell) ?? [];
    if (joined.length === 0) return cell.x + cell.width / 2;
    return joined.reduce((sum, each) => sum + each.x + each.width / 2, 0) / joined.length;
  });
  let free = Number.NEGATIVE_INFINITY;
  for (const [index, cell] of row.entries()) {
    cell.x = Math.max(free, (wishes[index] ?? 0) - cell.width / 2);
    free = cell.x + cell.width + GAP_X;
  }
  const shift =
    row.reduce((sum, { x, width }, index) => sum + (wishes[index] ?? 0) - (x + width / 2), 0) / Math.max(1, row.length);
  for (const cell of row) cell.x += shift;
}
