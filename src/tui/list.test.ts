import fc from "fast-check";
import { expect, test } from "vitest";
import { createRowCache, emptyList, inView, select, visibleRows, withListAction } from "./list.ts";

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
