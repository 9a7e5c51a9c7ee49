import fc from "fast-check";
import { expect, test } from "vitest";
import { createRowCache, emptyList, inView, itemAt, scrolled, select, visibleRows, withListAction } from "./list.ts";

const action = fc.constantFrom("list-up", "list-down", "list-page-up", "list-page-down", "list-first", "list-last");

test("whatever is pressed, the selected item is on the screen, the screen is full, and rows are in order", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 40 }),
      fc.array(fc.tuple(action, fc.integer({ min: 1, max: 12 })), { maxLength: 30 }),
      (heights, steps) => {
        const all = heights.flatMap((height, item) => Array.from({ length: height }, (_, row) => `${item}.${row}`));
        let list = emptyList;
        for (const [name, room] of steps) {
          const shape = { count: heights.length, room, heightOf: (item: number) => heights[item] ?? 0 };
          list = withListAction(inView(list, shape), name, shape) ?? list;
          const rows = visibleRows(list, shape, (item) => all.filter((row) => row.startsWith(`${item}.`)));
          expect(rows).toHaveLength(Math.min(room, all.length));
          expect(all.join(" ")).toContain(rows.join(" "));
          expect(rows.some((row) => row.startsWith(`${list.selected}.`))).toBe(true);
        }
      },
    ),
  );
});

test("rows scroll by one whatever the heights are, and the selection stays in sight", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 25 }), { minLength: 1, maxLength: 20 }),
      fc.integer({ min: 2, max: 12 }),
      (heights, room) => {
        const shape = { count: heights.length, room, heightOf: (item: number) => heights[item] ?? 0 };
        const total = heights.reduce((sum, height) => sum + height, 0);
        const rowOf = ({ top }: typeof emptyList): number =>
          heights.slice(0, top.item).reduce((sum, height) => sum + height, top.row);
        for (const by of [1, -1]) {
          let list = by > 0 ? emptyList : select(emptyList, heights.length - 1, shape);
          if (by < 0) list = scrolled(list, total, shape);
          for (let step = 0; step < total; step++) {
            const next = scrolled(list, by, shape);
            const end = by > 0 ? Math.max(0, total - room) : 0;
            expect(rowOf(next)).toBe(rowOf(list) === end ? end : rowOf(list) + by);
            expect(itemAt(next, 0, shape)).toBe(next.top.item);
            expect(inView(next, shape)).toEqual(next);
            list = next;
          }
        }
      },
    ),
  );
});

test("all rows of an item that is taller than the screen are seen, up and down", () => {
  const shape = { count: 3, room: 5, heightOf: (item: number) => [2, 23, 1][item] ?? 0 };
  const seen = (action: string, from: typeof emptyList): readonly string[] => {
    const rows = new Set<string>();
    for (let step = 0, list = from; step < 40; step++) {
      for (const row of visibleRows(list, shape, (item) =>
        Array.from({ length: shape.heightOf(item) }, (_, at) => `${item}.${at}`),
      ))
        rows.add(row);
      list = withListAction(list, action, shape) ?? list;
    }
    return [...rows];
  };
  const last = select(emptyList, 2, shape);
  for (const action of ["list-down", "list-page-down"]) expect(seen(action, emptyList)).toHaveLength(26);
  expect(seen("list-up", last)).toContain("1.0");
});

test("of a long list only what is on the screen is rendered", () => {
  const shape = { count: 100_000, room: 20, heightOf: () => 1 };
  let list = select(emptyList, 99_999, shape);
  list = withListAction(list, "list-page-up", shape) ?? list;
  const rendered: number[] = [];
  visibleRows(list, shape, (item) => {
    rendered.push(item);
    return [String(item)];
  });
  expect(rendered).toHaveLength(20);
  expect(rendered).toContain(list.selected);
});

test("an item is rendered once for a width and a theme, and the oldest of many are forgotten", () => {
  const rendered: number[] = [];
  const rowsOf = createRowCache((item: { readonly n: number }, style: { columns: number; theme: object }) => {
    rendered.push(item.n);
    return [`${item.n}:${style.columns}`];
  });
  const items = Array.from({ length: 600 }, (_, n) => ({ n }));
  const [first = { n: -1 }] = items;
  const style = { columns: 80, theme: {} };
  expect([rowsOf(first, style), rowsOf(first, style)]).toEqual([["0:80"], ["0:80"]]);
  expect(rendered).toEqual([0]);
  expect(rowsOf(first, { ...style, columns: 40 })).toEqual(["0:40"]);
  rowsOf(first, { columns: 40, theme: {} });
  expect(rendered).toEqual([0, 0, 0]);
  for (const item of items) rowsOf(item, style);
  rendered.length = 0;
  rowsOf(items[599] ?? first, style);
  rowsOf(first, style);
  expect(rendered).toEqual([0]);
});
