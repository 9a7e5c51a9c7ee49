/**
 * A list of any length of which only what is on the screen is rendered: items are rows by index, of any height. Pure; the cache holds
 * what rendering an item gave before.
 */

export interface ListState {
  readonly selected: number;
  /** The first row on the screen: of this item, this many rows down. */
  readonly top: { readonly item: number; readonly row: number };
}

export interface ListShape {
  readonly count: number;
  /** Rows on the screen. */
  readonly room: number;
  heightOf(item: number): number;
}

export const emptyList: ListState = { selected: 0, top: { item: 0, row: 0 } };

/** What a list action does; undefined for an action that is not of lists. */
export function withListAction(list: ListState, action: string | undefined, shape: ListShape): ListState | undefined {
  switch (action) {
    case "list-up":
      return withinItem(list, -1, shape) ?? select(list, list.selected - 1, shape);
    case "list-down":
      return withinItem(list, 1, shape) ?? select(list, list.selected + 1, shape);
    case "list-page-up":
      return withinItem(list, 1 - shape.room, shape) ?? select(list, list.selected - pageOf(list, shape), shape);
    case "list-page-down":
      return withinItem(list, shape.room - 1, shape) ?? select(list, list.selected + pageOf(list, shape), shape);
    case "list-first":
      return select(list, 0, shape);
    case "list-last":
      return select(list, shape.count - 1, shape);
    default:
      return undefined;
  }
}

/** For rows that are read and not chosen: a step scrolls from the edge of the screen. */
export function atEdge(list: ListState, action: string | undefined, { room, count }: ListShape): ListState {
  const { item } = list.top;
  if (action === "list-down" || action === "list-page-down") {
    return { ...list, selected: Math.max(0, Math.min(count - 1, item + room - 1)) };
  }
  return action === "list-up" || action === "list-page-up" ? { ...list, selected: item } : list;
}

/** Selects the item and scrolls no further than it takes to see all of it. */
export function select(list: ListState, item: number, shape: ListShape): ListState {
  const { count, room, heightOf } = shape;
  if (count === 0) return emptyList;
  const selected = Math.max(0, Math.min(item, count - 1));
  const first = { item: selected, row: 0 };
  const { top } = list;
  if (top.item >= count || top.item > selected || (top.item === selected && top.row > 0)) {
    return { selected, top: filled(first, shape) };
  }
  let below = -top.row;
  for (let at = top.item; at <= selected && below <= room; at++) below += heightOf(at);
  if (below <= room) return { selected, top: filled(top, shape) };
  // Its last row goes to the end of the screen; of an item that is taller, the first one stays.
  const height = heightOf(selected);
  return { selected, top: height >= room ? first : up(first, room - height, shape) };
}

/** The same list where its items, their heights or the room have changed: the selected item is in sight, or a part of it. */
export function inView(list: ListState, shape: ListShape): ListState {
  const { selected, top } = list;
  if (top.item >= shape.count || selected >= shape.count || top.row >= shape.heightOf(top.item)) {
    return select(list, selected, shape);
  }
  const { from, to } = inSight(top, shape);
  return selected < from || selected > to ? select(list, selected, shape) : { selected, top: filled(top, shape) };
}

/** The items of which rows are on the screen. */
function inSight(top: ListState["top"], { count, room, heightOf }: ListShape): { from: number; to: number } {
  let to = top.item;
  for (let rows = heightOf(to) - top.row; to < count - 1 && rows < room; ) rows += heightOf(++to);
  return { from: top.item, to };
}

/** Of an item that is taller than the screen, the rows further on; undefined where it ends. */
function withinItem(list: ListState, by: number, { room, heightOf }: ListShape): ListState | undefined {
  const { selected, top } = list;
  if (top.item !== selected) return undefined;
  const row = Math.max(0, Math.min(top.row + by, heightOf(selected) - room));
  return row === top.row || (by > 0 && row < top.row) ? undefined : { selected, top: { item: selected, row } };
}

/** The same list with its rows further up or down; the selection stays in sight. */
export function scrolled(list: ListState, by: number, shape: ListShape): ListState {
  if (shape.count === 0) return emptyList;
  const top = by < 0 ? up(list.top, -by, shape) : filled(down(list.top, by, shape), shape);
  const { from, to } = inSight(top, shape);
  return { selected: Math.max(from, Math.min(list.selected, to)), top };
}

/** The item that has this row of the screen. */
export function itemAt({ top }: ListState, row: number, { count, heightOf }: ListShape): number | undefined {
  let rows = -top.row;
  for (let item = top.item; item < count && rows <= row; item++) {
    rows += heightOf(item);
    if (row < rows) return item;
  }
  return undefined;
}

/** The rows on the screen. `render` is called for these items only. */
export function visibleRows(
  list: ListState,
  { count, room }: ListShape,
  render: (item: number, isSelected: boolean) => readonly string[],
): readonly string[] {
  const rows: string[] = [];
  let skipped = list.top.row;
  for (let item = list.top.item; item < count && rows.length < room; item++) {
    rows.push(...render(item, item === list.selected).slice(skipped));
    skipped = 0;
  }
  return rows.slice(0, room);
}

/** Leaves no blank rows at the end while there are items above. */
function filled(top: ListState["top"], shape: ListShape): ListState["top"] {
  const { count, room, heightOf } = shape;
  let rows = -top.row;
  for (let item = top.item; item < count && rows < room; item++) rows += heightOf(item);
  return rows >= room ? top : up(top, room - rows, shape);
}

function up({ item, row }: ListState["top"], rows: number, { heightOf }: ListShape): ListState["top"] {
  let at = item;
  let left = rows - row;
  while (left > 0 && at > 0) left -= heightOf(--at);
  return { item: at, row: Math.max(0, -left) };
}

function down({ item, row }: ListState["top"], rows: number, { count, heightOf }: ListShape): ListState["top"] {
  let at = item;
  let left = row + rows;
  while (at < count - 1 && left >= heightOf(at)) left -= heightOf(at++);
  return { item: at, row: Math.min(left, Math.max(0, heightOf(at) - 1)) };
}

function pageOf({ top }: ListState, { count, room, heightOf }: ListShape): number {
  let items = 0;
  let rows = -top.row;
  for (let item = top.item; item < count && rows < room; item++, items++) rows += heightOf(item);
  return Math.max(1, items - 1);
}

const CACHED = 500;
const CACHED_ROWS = 5_000;

/** Rows of items that were rendered before in this width and theme; what is used least recently goes first. */
export function createRowCache<Item extends object, Style extends { readonly columns: number; readonly theme: object }>(
  render: (item: Item, style: Style) => readonly string[],
): (item: Item, style: Style) => readonly string[] {
  const cached = new Map<Item, { readonly style: Style; readonly rows: readonly string[] }>();
  let held = 0;
  return (item, style) => {
    const found = cached.get(item);
    cached.delete(item);
    const isSame = found?.style.columns === style.columns && found.style.theme === style.theme;
    const rows = isSame ? found.rows : render(item, style);
    cached.set(item, { style, rows });
    held += rows.length - (found?.rows.length ?? 0);
    for (const [oldest, { rows: gone }] of cached) {
      if ((cached.size <= CACHED && held <= CACHED_ROWS) || cached.size === 1) break;
      cached.delete(oldest);
      held -= gone.length;
    }
    return rows;
  };
}
