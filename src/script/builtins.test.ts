/** The pure built-ins, as scripts use them. */
import { describe, expect, test } from "vitest";
import { computingTime } from "../../test/fakes/computing-time.ts";
import { createManualClock } from "../../test/fakes/manual-clock.ts";
import { createScriptRig } from "../../test/fakes/script-rig.ts";

const rig = () => createScriptRig({ clock: createManualClock() });

test.each<[string, unknown]>([
  ["time.now()", "2026-01-01T00:00:00.000000000Z"],
  ["time.unix()", 1767225600],
  ["json.decode(json.encode({'b': 1, 'a': [1.5, None]}))", { a: [1.5, null], b: 1 }],
  ["json.decode('nope', default=None)", null],
  [
    "[math.abs(-3), math.abs(-2.5), math.ceil(1.2), math.floor(-1.2), math.max(1, 2), math.min(1, 2.5)]",
    [3, 2.5, 2, -2, 2, 1],
  ],
  ["math.abs(-(1 << 70)) == 1 << 70", true],
  ["[os.hostname(), os.platform(), os.args()]", ["box", "linux", ["harness", "run"]]],
  ['url.encode("a b&c/é\'")', "a%20b%26c%2F%C3%A9%27"],
  [
    "url.parse('https://me@example.com:8443/a/b?q=1#f')",
    { scheme: "https", host: "example.com", port: "8443", path: "/a/b", query: "q=1", fragment: "f", user: "me" },
  ],
  ["hash.md5('a')", "0cc175b9c0f1b6a831c399e269772661"],
  ["hash.sha1('a')", "86f7e437faa5a7fce15d1ddcb9eaeaea377667b8"],
  ["hash.sha256('a')", "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"],
  ["len(hash.sha512('é'))", 128],
  ["[base64.encode('hé'), base64.decode('aMOp')]", ["aMOp", "hé"]],
  ["crypto.hmac_sha256('key', 'msg')", "2d93cbc1be167bcb1637a4a23cbff01a7878f0c50ee833954ea5221bb1b8c628"],
  ["len(crypto.hmac_sha512('key', 'msg'))", 128],
  [
    "[string.upper('é'), string.lower('É'), string.trim(' x '), string.split('a,b', ','), string.join(['a', 'b'], '-')]",
    ["É", "é", "x", ["a", "b"], "a-b"],
  ],
  [
    "[string.truncate('héllo', 3), string.truncate('abc', 3), string.truncate('abcd', 2, ellipsis='')]",
    ["hé…", "abc", "ab"],
  ],
  ["[string.pad_left('7', 3, '0'), string.pad_right('a', 3) + '|']", ["007", "a  |"]],
  [
    "[validate.email('a.b@example.com'), validate.email('A <a@b.c>'), validate.email('a@b@c'), validate.email('@x.y')]",
    [true, false, false, false],
  ],
  [
    "[validate.url('https://x.y/z'), validate.url('/z'), validate.url('mailto:a@b'), validate.url('https://')]",
    [true, false, false, false],
  ],
  ["[validate.json('{}'), validate.json('{')]", [true, false]],
  [
    "[set.size(set.new([1, 1, 2])), set.values(set.union(set([1]), set.new([2]))), set.contains(set([(1, 2)]), (1, 2))]",
    [2, [1, 2], true],
  ],
  [
    "[set.values(set.intersect(set([1, 2]), set([2]))), set.values(set.diff(set([1, 2]), set([2]))), type(set())]",
    [[2], [1], "set"],
  ],
  ["re.match('(a+)(b)?', 'aac')", ["aa", "aa", null]],
  ["[re.match('b', 'ab'), re.search('b', 'ab')]", [null, ["b"]]],
  [
    "[re.find_all('(\\\\d)(x)?', '1x2'), re.findall('z', 'a')]",
    [
      [
        ["1x", "1", "x"],
        ["2", "2", null],
      ],
      [],
    ],
  ],
  ["re.replace('(\\\\w+)@(\\\\w+)', '$2 at $1 $$', 'a@b c@d')", "b at a $ d at c $"],
  ["[env('EDITOR'), env('API_KEY'), env('HARNESS_TOKEN'), env('NOPE')]", ["ed", "", "", ""]],
  [
    "[allow(), block('no'), block(reason='x'), modify({'a': 1})]",
    [
      { action: "allow" },
      { action: "block", reason: "no" },
      { action: "block", reason: "x" },
      { action: "modify", payload: { a: 1 } },
    ],
  ],
  ["all([1 <= random(1, 3) and random(1, 3) <= 3 for _ in range(50)])", true],
  ["assert(True, 'never')", null],
])("%s", async (expression, expected) => {
  expect(await rig().evaluate(expression)).toEqual(expected);
});

test.each([
  ["base64.decode('a')", /base64.decode: not valid base64/],
  ["base64.decode('/w==')", /not UTF-8 text/],
  ["url.parse('no url')", /url.parse: not a URL/],
  ["re.match('(', 'x')", /error parsing regexp/],
  ["re.match('(?=x)', 'x')", /error parsing regexp/],
  ["re.match('a' * 2000, 'x')", /at most 1000 characters/],
  ["re.match('a', 'x' * 600000)", /at most 500000 characters/],
  ["random(3, 3)", /min must be below max/],
  ["assert([], 'empty')", /assertion failed: empty/],
  ["string.pad_left('a', 10000000)", /width must be at most/],
  ["hash.md5(1)", /for parameter s: got int, want string/],
  ["emit('Custom Event', 1)", /is not a name for an event/],
  ["cache.set('k', len)", /cannot convert builtin/],
  ["ctx.set('k', float('nan'))", /nan, which JSON cannot hold/],
  ["math.ceil(float('inf'))", /cannot make an int/],
  ["time.nwo()", /no .nwo field or method/],
])("%s fails with its reason", async (expression, message) => {
  await expect(rig().evaluate(expression)).rejects.toThrow(message);
});

test("a hostile pattern takes linear time", async () => {
  const computedMs = computingTime();
  expect(await rig().evaluate("re.match('(a+)+$', 'a' * 50000 + 'b')")).toBeNull();
  expect(computedMs()).toBeLessThan(2_000);
});

test("uuids are of their version and v7 begins with the time", async () => {
  const [v4, v7] = (await rig().evaluate("[uuid.v4(), uuid.v7()]")) as [string, string];
  expect(v4).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(v7).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(v7.replace("-", "").slice(0, 12), 16)).toBe(Date.UTC(2026, 0, 1));
});

describe("template.render", () => {
  const data = `{"name": "Ann", "user": {"id": 7}, "items": [{"n": "a"}, {"n": "b"}], "none": [], "on": True}`;
  test.each<[string, string]>([
    ["Hi {{.name}} #{{.user.id}}", "Hi Ann #7"],
    ["{{if .on}}yes{{else}}no{{end}}{{if .missing}}x{{else if .on}}y{{end}}", "yesy"],
    ["{{range .items}}[{{.n}}]{{end}}{{range .none}}x{{else}}empty{{end}}", "[a][b]empty"],
    ["{{range $i, $v := .items}}{{$i}}={{$v.n}};{{$.name}} {{end}}", "0=a;Ann 1=b;Ann "],
    ["{{with .user}}{{.id}}{{end}}{{with .missing}}x{{else}}-{{end}}", "7-"],
    ["{{.name | lower | quote}} {{len .items}} {{json .user}}", '"ann" 2 {"id":7}'],
    ["a {{- /* gone */ -}} b{{ .missing }}", "ab<no value>"],
    ['{{if and .on (eq .name "Ann")}}ok{{end}} {{default "x" .missing}} {{index .items 1 "n"}}', "ok x b"],
    ["{{html `<b>`}} {{urlquery `a b`}} {{if gt 2 1}}>{{end}}", "&#60;b&#62; a%20b >"],
  ])("%s", async (template, expected) => {
    const body = `return template.render(args["t"], ${data})`;
    expect(await rig().evaluate(body, { t: template })).toBe(expected);
  });

  test.each([
    ["{{.name", /line 1: {{ without }}/],
    ["\n{{if .on}}", /line 2: {{if .on}} has no {{end}}/],
    ["{{end}}", /unexpected {{end}}/],
    ["{{nosuch .name}}", /no function nosuch/],
    ["{{.name.constructor}}{{loer .name}}", /did you mean lower/],
    ["{{$x}}", /has no \$x/],
    ['{{range .items}}{{range $.items}}{{range $.items}}{{end}}{{end}}{{end}}{{template "x"}}', /no function template/],
    ["{{$x := 1}}", /:= is not in the subset/],
  ])("refuses %s", async (template, message) => {
    const body = `return template.render(args["t"], ${data})`;
    await expect(rig().evaluate(body, { t: template })).rejects.toThrow(message);
  });

  test("steps and output are bounded", async () => {
    const nested = "{{range .l}}{{range $.l}}{{range $.l}}x{{end}}{{end}}{{end}}";
    await expect(rig().evaluate(`template.render(args["t"], {"l": list(range(100))})`, { t: nested })).rejects.toThrow(
      /more than 100000 steps/,
    );
    const wide = "{{range .l}}{{$.s}}{{end}}";
    await expect(
      rig().evaluate(`template.render(args["t"], {"l": list(range(100)), "s": "x" * 100000})`, { t: wide }),
    ).rejects.toThrow(/more than 1000000 characters/);
  });
});

describe("state", () => {
  test("ctx lasts for the turn, cache and metrics for the run", async () => {
    const { evaluate, services } = rig();
    services.states.of("sess_01JZ0000000000000000000000").setValues({ mode: "review" });
    await evaluate(
      "ctx.set('a', [1])\ncache.set('c', {'x': 1})\nmetrics.incr('n', 2)\nmetrics.incr('n')\nmetrics.set('g', 1.5)",
    );
    expect(await evaluate("[ctx.get('a'), ctx.get('mode'), ctx.get('no', 7), ctx.has('a'), ctx.snapshot()]")).toEqual([
      [1],
      "review",
      7,
      true,
      { mode: "review", a: [1] },
    ]);
    expect(
      await evaluate("[cache.get('c'), cache.get('d', 1), cache.has('c'), metrics.get('n'), metrics.snapshot()]"),
    ).toEqual([{ x: 1 }, 1, true, 3, { g: 1.5, n: 3 }]);
    const other = services.states.of("sess_01JZ0000000000000000000000").turn("turn_other");
    expect([other.get("a"), other.get("mode")]).toEqual([undefined, "review"]);
    expect(
      await evaluate(
        "ctx.delete('mode')\nctx.delete('a')\ncache.delete('c')\nmetrics.reset('n')\nreturn [ctx.snapshot(), cache.has('c'), metrics.snapshot()]",
      ),
    ).toEqual([{}, false, { g: 1.5 }]);
    expect(
      await evaluate("ctx.clear()\ncache.clear()\nmetrics.reset()\nreturn [ctx.snapshot(), metrics.snapshot()]"),
    ).toEqual([{ mode: "review" }, {}]);
  });

  test("what is kept is a copy", async () => {
    const { evaluate } = rig();
    expect(
      await evaluate("x = [1]\ncache.set('x', x)\nx.append(2)\ncache.get('x').append(3)\nreturn cache.get('x')"),
    ).toEqual([1]);
  });

  test("everything is bounded", async () => {
    const { evaluate } = rig();
    await expect(evaluate("for i in range(2000):\n    ctx.set(str(i), i)")).rejects.toThrow(/at most 1000 values/);
    await expect(evaluate("ctx.set('a', 'x' * 2000000)")).rejects.toThrow(/1048576 bytes/);
    await expect(evaluate("for i in range(2000):\n    metrics.incr(str(i))")).rejects.toThrow(/at most 1000 metrics/);
    await expect(evaluate("cache.set('a', 'x' * 20000000)")).rejects.toThrow(/does not fit/);
    expect(
      await evaluate("for i in range(10001):\n    cache.set(str(i), i)\nreturn [cache.has('0'), cache.has('10000')]"),
    ).toEqual([false, true]);
  });
});

describe("speaking", () => {
  test("log, print and its levels go to the log, bounded", async () => {
    const { evaluate, lines } = rig();
    await evaluate("log('a', 1)\nlog.info('b', {'n': 2})\nlog.warn('c')\nlog.error('d')\nprint('e', [1])");
    expect(lines.map(({ level, message, source }) => [level, message, source])).toEqual([
      ["info", "a 1", ".harness/x.md:1"],
      ["info", 'b {"n":2}', ".harness/x.md:1"],
      ["warn", "c", ".harness/x.md:1"],
      ["error", "d", ".harness/x.md:1"],
      ["info", "e [1]", ".harness/x.md:1"],
    ]);
    lines.length = 0;
    await evaluate("for i in range(1000):\n    log(i)\n");
    expect(lines).toHaveLength(201);
    expect(lines.at(-1)?.message).toContain("the rest is left out");
  });

  test("a line that is too long is not cut in the middle of a key, whose end would tell what it is", async () => {
    const { evaluate, lines } = rig();
    await evaluate("log(args['text'])", {
      text: `${"word ".repeat(780)}\n${`${"Ab0/".repeat(16)}\n`.repeat(8)}-----END`,
    });
    expect(lines[0]?.message).toMatch(/ word…$/);
  });

  test("events are named, encoded and counted", async () => {
    const { evaluate, emitted } = rig();
    await evaluate("emit('custom.a', {'x': 1})\nevents.emit('b')");
    expect(emitted).toEqual([
      { event: "custom.a", payload: { x: 1 } },
      { event: "custom.b", payload: null },
    ]);
    await expect(evaluate("for i in range(200):\n    emit('x')")).rejects.toThrow(/more than 100 events/);
  });

  test("annotate takes a dict and names", async () => {
    const seen: unknown[] = [];
    const { output } = rig();
    await output('annotate({"a.b": 1}, c="x")', {}, { annotate: (attributes) => void seen.push(attributes) });
    expect(seen).toEqual([{ "a.b": 1, c: "x" }]);
  });
});

describe("secrets", () => {
  test("are seen nowhere", async () => {
    const { evaluate, lines, emitted } = rig();
    const body = [
      's = secrets.get("TOKEN")',
      "log(s)",
      "print(s)",
      'emit("x", {"s": s})',
      'cache.set("s", s)',
      'joined = "Bearer " + s + "!"',
      'return [type(s), str(s), repr(s), "%s" % s, json.encode({"s": s}), cache.get("s"), str(joined), s, {"k": joined}, dir(s), "{}".format(s)]',
    ].join("\n");
    const result = await evaluate(body);
    expect(JSON.stringify([result, lines, emitted])).not.toContain("s3cr3t");
    expect(result).toEqual([
      "secret",
      ...Array.from({ length: 3 }, () => "‹secret TOKEN›"),
      '{"s":"‹secret TOKEN›"}',
      "‹secret TOKEN›",
      "‹secret TOKEN›",
      "‹secret TOKEN›",
      { k: "‹secret TOKEN›" },
      [],
      "‹secret TOKEN›",
    ]);
  });

  test("are the key of an HMAC, and nothing else is made of them", async () => {
    const { evaluate } = rig();
    expect(await evaluate("crypto.hmac_sha256(secrets.get('TOKEN'), 'm') == crypto.hmac_sha256('s3cr3t', 'm')")).toBe(
      true,
    );
    await expect(evaluate("hash.sha256(secrets.get('TOKEN'))")).rejects.toThrow(/got secret, want string/);
    await expect(evaluate("base64.encode(secrets.get('TOKEN'))")).rejects.toThrow(/got secret, want string/);
    await expect(evaluate("secrets.get('TOKEN')[0]")).rejects.toThrow();
    await expect(evaluate("secrets.get('TOKEN').reveal()")).rejects.toThrow(/no .reveal/);
    await expect(evaluate("secrets.get('NOPE')")).rejects.toThrow(/there is no secret NOPE/);
  });
});
