/** fs, exec and http through scripts, on real files, processes and sockets. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createDomainList } from "#base";
import { createPublicWeb } from "#world";
import { startLoopbackServer } from "../../test/fakes/loopback-server.ts";
import { createScriptRig, hookCall, hookFrom } from "../../test/fakes/script-rig.ts";

describe("fs", () => {
  test("reads and looks", async () => {
    const { evaluate, workspace } = createScriptRig();
    workspace.put("a.txt", "one\ntwo\nthree\n");
    workspace.put("src/b.ts", "x");
    workspace.put("src/.hidden.ts", "x");
    expect(await evaluate("[fs.read('a.txt'), fs.exists('a.txt'), fs.exists('no'), fs.line_count('a.txt')]")).toEqual([
      "one\ntwo\nthree\n",
      true,
      false,
      3,
    ]);
    expect(
      await evaluate("[fs.read_lines('a.txt'), fs.read_lines('a.txt', 2, 2), fs.read_lines('a.txt', start=3, end=9)]"),
    ).toEqual([["one", "two", "three"], ["two"], ["three"]]);
    expect(await evaluate("[(e['name'], e['is_dir'], e['size']) for e in fs.list('.')]")).toEqual([
      ["a.txt", false, 14],
      ["src", true, expect.any(Number)],
    ]);
    expect(await evaluate("fs.stat('src/b.ts')")).toEqual({
      name: "b.ts",
      size: 1,
      is_dir: false,
      modified: expect.stringMatching(/^\d{4}-.*Z$/),
    });
    expect(await evaluate("[fs.glob('**/b.ts'), fs.glob('no/*'), fs.glob('')]")).toEqual([["src/b.ts"], [], []]);
    expect(
      await evaluate("[fs.glob('*.txt'), fs.glob('src/*.ts'), fs.glob('*/[a-c].ts'), fs.glob('s?c/b.*')]"),
    ).toEqual([["a.txt"], ["src/.hidden.ts", "src/b.ts"], ["src/b.ts"], ["src/b.ts"]]);
    expect(await evaluate("fs.find('a.txt', '^t(w|h)')")).toEqual([
      { line: 2, text: "two" },
      { line: 3, text: "three" },
    ]);
    workspace.put("b.txt", "one\n2\nthree\n");
    expect(await evaluate("fs.diff('a.txt', 'b.txt')")).toBe(
      "--- a.txt\n+++ b.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n",
    );
    expect(await evaluate("fs.diff('a.txt', 'a.txt')")).toBe("");
    await expect(evaluate("fs.stat('nope')")).rejects.toThrow(/fs.stat: nope does not exist/);
    await expect(evaluate("fs.read('src')")).rejects.toThrow(/is a directory/);
  });

  test("changes", async () => {
    const { evaluate, workspace } = createScriptRig();
    const text = (path: string) => readFileSync(join(workspace.root, path), "utf8");
    await evaluate(
      "fs.write('d/e/a.txt', 'one\\ntwo\\nthree\\n')\nfs.append('d/e/a.txt', 'four\\n')\nfs.append('new.txt', 'x')",
    );
    expect([text("d/e/a.txt"), text("new.txt")]).toEqual(["one\ntwo\nthree\nfour\n", "x"]);
    await evaluate("fs.replace('d/e/a.txt', 'two', '2')\nfs.replace_all('d/e/a.txt', 'e', 'E')");
    expect(text("d/e/a.txt")).toBe("onE\n2\nthrEE\nfour\n");
    await evaluate(
      "fs.insert_at('d/e/a.txt', 1, 'zero')\nfs.insert_at('d/e/a.txt', 6, 'last\\n')\nfs.replace_lines('d/e/a.txt', 2, 3, 'x\\ny\\nz')\nfs.delete_lines('d/e/a.txt', 5, 5)",
    );
    expect(text("d/e/a.txt")).toBe("zero\nx\ny\nz\nfour\nlast\n");
    await evaluate(
      "fs.copy('new.txt', 'copy.txt')\nfs.move('copy.txt', 'd/moved.txt')\nfs.mkdir('m/n')\nfs.mkdir('m/n')\nfs.remove('new.txt')",
    );
    expect(
      await evaluate("[fs.exists('new.txt'), fs.exists('copy.txt'), fs.read('d/moved.txt'), fs.stat('m/n')['is_dir']]"),
    ).toEqual([false, false, "x", true]);
    for (const [expression, message] of [
      ["fs.replace('d/e/a.txt', 'o', '0')", /more than once/],
      ["fs.replace('d/e/a.txt', 'nope', '0')", /is not in/],
      ["fs.replace_lines('d/e/a.txt', 3, 99, '')", /lines 3 to 99 are not in a file of 6 lines/],
      ["fs.insert_at('d/e/a.txt', 0, '')", /are not in/],
      ["fs.remove('m')", /is a folder/],
      ["fs.move('d/moved.txt', 'd/e/a.txt')", /already exists/],
      ["fs.mkdir('d/moved.txt')", /is not a directory/],
      ["fs.write('d', 'x')", /is a directory/],
    ] as const) {
      await expect(evaluate(expression), expression).rejects.toThrow(message);
    }
  });

  test("cannot leave the workspace", async () => {
    const { evaluate, workspace } = createScriptRig();
    writeFileSync(join(workspace.outside, "secret.txt"), "outside");
    mkdirSync(join(workspace.outside, "folder"));
    symlinkSync(join(workspace.outside, "secret.txt"), join(workspace.root, "link.txt"));
    symlinkSync(join(workspace.outside, "folder"), join(workspace.root, "linked"));
    symlinkSync(join(workspace.outside, "future.txt"), join(workspace.root, "dangling.txt"));
    workspace.put("in.txt", "in");
    const outside = join(workspace.outside, "secret.txt");
    for (const path of [
      "../secret.txt",
      outside,
      "link.txt",
      "a/../../secret.txt",
      "/etc/passwd",
      "linked/../../secret.txt",
    ]) {
      for (const expression of [
        "fs.read(p)",
        "fs.exists(p)",
        "fs.stat(p)",
        "fs.line_count(p)",
        "fs.find(p, 'x')",
        "fs.diff('in.txt', p)",
        "fs.copy(p, 'got.txt')",
      ]) {
        await expect(
          evaluate(`p = args["p"]\nreturn ${expression}`, { p: path }),
          `${expression} ${path}`,
        ).rejects.toThrow(/outside the workspace/);
      }
    }
    for (const path of ["../new.txt", "link.txt", "dangling.txt", "linked/x.txt", "/tmp/harness-never.txt"]) {
      for (const expression of [
        "fs.write(p, 'x')",
        "fs.append(p, 'x')",
        "fs.copy('in.txt', p)",
        "fs.mkdir(p)",
        "fs.move('in.txt', p)",
      ]) {
        await expect(evaluate(`p = args["p"]\n${expression}`, { p: path }), `${expression} ${path}`).rejects.toThrow(
          /outside the workspace|already exists/,
        );
      }
    }
    for (const pattern of ["../*", "/etc/*", "linked/*"]) {
      await expect(evaluate("fs.glob(args['p'])", { p: pattern }), pattern).rejects.toThrow(/outside the workspace/);
    }
    expect(await evaluate("fs.glob('*/x')")).toEqual([]);
    expect(await evaluate("[e for e in fs.list('.') if e['name'] == 'link.txt']")).toEqual([
      { name: "link.txt", size: 0, is_dir: false, modified: "" },
    ]);
    expect(readFileSync(outside, "utf8")).toBe("outside");
  });

  test("stays inside while a folder is swapped for a link", async () => {
    const { evaluate, workspace } = createScriptRig();
    const [folder, outside] = [join(workspace.root, "d"), join(workspace.outside, "target")];
    mkdirSync(folder);
    mkdirSync(outside);
    writeFileSync(join(outside, "secret.txt"), "outside");
    // A script may make the folder again in the moment when it is gone.
    const put = (place: () => void): void => {
      for (let left = 100; ; left--) {
        try {
          rmSync(folder, { recursive: true, force: true });
          place();
          return;
        } catch (error) {
          if (left === 0) throw error;
        }
      }
    };
    let swapping = true;
    const swapper = (async () => {
      for (let i = 0; swapping && i < 20_000; i++) {
        put(() => symlinkSync(outside, folder));
        await new Promise(setImmediate);
        put(() => mkdirSync(folder));
        // Long enough for some of them to go through.
        for (let tick = 0; tick < i % 100; tick++) await new Promise(setImmediate);
      }
    })();
    const tries = [
      "fs.write('d/w.txt', 'x')",
      "fs.append('d/a.txt', 'x')",
      "fs.mkdir('d/m/n')",
      "fs.read('d/secret.txt')",
      "fs.copy('d/secret.txt', 'got.txt')",
    ];
    const answers: unknown[] = [];
    for (let i = 0; i < 100; i++) {
      for (const expression of tries) answers.push(await evaluate(expression).catch((error: Error) => error.message));
    }
    swapping = false;
    await swapper;
    expect(readdirSync(outside)).toEqual(["secret.txt"]);
    expect(answers).not.toContain("outside");
    expect(existsSync(join(workspace.root, "got.txt"))).toBe(false);
    // What was refused was refused because of the swap: without it the same works.
    put(() => mkdirSync(folder));
    expect(await evaluate("fs.write('d/w.txt', 'x')\nreturn fs.read('d/w.txt')")).toBe("x");
  });

  test("refuses what is not text, and what is too large", async () => {
    const { evaluate, workspace } = createScriptRig();
    workspace.put("bin", new Uint8Array([0xff, 0xfe, 0x00]));
    workspace.put("big", new Uint8Array(11 * 1024 * 1024));
    await expect(evaluate("fs.read('bin')")).rejects.toThrow(/not UTF-8/);
    await expect(evaluate("fs.append('bin', 'x')")).rejects.toThrow(/not UTF-8/);
    await expect(evaluate("fs.read('big')")).rejects.toThrow(/at most 10485760/);
    await evaluate("fs.copy('bin', 'bin2')");
    expect([...readFileSync(join(workspace.root, "bin2"))]).toEqual([0xff, 0xfe, 0x00]);
  });

  test("hooks read and cannot even name what writes", async () => {
    const { scripts, workspace } = createScriptRig();
    workspace.put("policy.txt", "deny");
    const hook = hookFrom(scripts, "block('says ' + fs.read('policy.txt'))");
    expect(await hook.handle(hookCall(workspace.ports, {}))).toEqual({ action: "block", reason: "says deny" });
    const writing = hookFrom(scripts, "fs.write('policy.txt', '')");
    expect(() => writing.handle(hookCall(workspace.ports, {}))).toThrow(/no .write field or method/);
    expect(() => hookFrom(scripts, "exec.run('true')")).toThrow(/undefined: exec/);
  });
});

describe("exec.run", () => {
  test("gives both streams, the exit code and whether time ran out", async () => {
    const { evaluate } = createScriptRig();
    expect(await evaluate("exec.run('sh', ['-c', 'echo out; echo err >&2; exit 3'])")).toEqual({
      stdout: "out\n",
      stderr: "err\n",
      exit_code: 3,
      timed_out: false,
    });
    expect(await evaluate("exec.run('cat', stdin='hello')['stdout']")).toBe("hello");
    expect(await evaluate("exec.run('sleep', ['5'], 50)")).toEqual({
      stdout: "",
      stderr: "",
      exit_code: -1,
      timed_out: true,
    });
    expect(await evaluate("exec.run('sleep', ['5'], timeout_seconds=0.05)['timed_out']")).toBe(true);
    await expect(evaluate("exec.run('no-such-program')")).rejects.toThrow(/does not exist/);
    await expect(evaluate("exec.run('true', cwd='..')")).rejects.toThrow(/outside the workspace/);
    await expect(evaluate("exec.run('true', 'x')")).rejects.toThrow(/list of strings/);
  });

  test("bounds its output", async () => {
    const { evaluate } = createScriptRig();
    const length = await evaluate(
      "len(exec.run('sh', ['-c', 'head -c 3000000 /dev/zero | tr \"\\\\0\" x'])['stdout'])",
    );
    expect(length).toBeLessThan(1_100_000);
  });

  test("hands a secret over in the environment, and keys of ours never", async () => {
    const { evaluate } = createScriptRig();
    expect(
      await evaluate("len(exec.run('sh', ['-c', 'printf %s \"$T\"'], env={'T': secrets.get('TOKEN')})['stdout'])"),
    ).toBe(6);
    await expect(evaluate("exec.run('echo', [secrets.get('TOKEN')])")).rejects.toThrow(/list of strings/);
  });
});

describe("http", () => {
  async function server() {
    const seen: { method: string | undefined; headers: IncomingHttpHeaders; body: string; url: string | undefined }[] =
      [];
    const { port } = await startLoopbackServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += String(chunk);
      });
      request.on("end", () => {
        seen.push({ method: request.method, headers: request.headers, body, url: request.url });
        if (request.url?.startsWith("/to/") === true) {
          response
            .writeHead(Number(request.url.slice(4, 7)), { location: decodeURIComponent(request.url.slice(8)) })
            .end();
        } else if (request.url === "/slow") return;
        else response.writeHead(201, { "X-Answer": "Yes" }).end("héllo");
      });
    });
    const resolve = async () => [{ address: "127.0.0.1", family: 4 as const }];
    const web = (...lists: string[][]) => createPublicWeb({ domains: () => createDomainList(lists), resolve });
    return { seen, port, web, resolve };
  }

  test("gets and posts, with headers and a secret", async () => {
    const { seen, port, web } = await server();
    const { evaluate } = createScriptRig({}, web(["box.test", "127.0.0.1"]));
    const url = `http://box.test:${port}/a`;
    expect(
      await evaluate("http.get(args['u'], {'Authorization': 'Bearer ' + secrets.get('TOKEN')}, 10000)", { u: url }),
    ).toEqual({
      status: 201,
      headers: expect.objectContaining({ "x-answer": "Yes" }),
      body: "héllo",
    });
    expect(seen[0]?.headers.authorization).toBe("Bearer s3cr3t");
    await evaluate("http.post(args['u'], {'a': [1]}, headers={'X-A': 'b'})", { u: url });
    await evaluate("http.post(args['u'], 'text')", { u: url });
    expect(
      seen.slice(1).map(({ method, body, headers }) => [method, body, headers["content-type"], headers["x-a"]]),
    ).toEqual([
      ["POST", '{"a":[1]}', "application/json", "b"],
      ["POST", "text", undefined, undefined],
    ]);
    await expect(evaluate("http.get(args['u'], {'X': 'a\\nb'})", { u: url })).rejects.toThrow(
      /header X has a character/,
    );
    await expect(evaluate("http.get(args['u'] + '/../slow', timeout_seconds=0.05)", { u: url })).rejects.toThrow(
      /took longer than 50 ms/,
    );
  });

  test("is refused with the host where the policy has no entry, before a socket opens", async () => {
    const { seen, port, web } = await server();
    const { evaluate } = createScriptRig({}, web(["box.test", "127.0.0.1"]));
    await expect(evaluate("http.get(args['u'])", { u: `http://gist.github.com:${port}/` })).rejects.toThrow(
      "http.get: SandboxError: host gist.github.com is not in allowed_domains",
    );
    await expect(evaluate("http.get('ftp://box.test/')")).rejects.toThrow(/only http and https/);
    expect(seen).toEqual([]);
    const nothing = createScriptRig({}, web([]));
    await expect(nothing.evaluate("http.get('http://box.test/')")).rejects.toThrow(/SandboxError/);
  });

  test("is checked again at every hop, and takes no credentials along", async () => {
    const { seen, port, web } = await server();
    const { evaluate } = createScriptRig({}, web(["box.test", "other.test", "127.0.0.1"]));
    const to = (status: number, target: string) => ({
      u: `http://box.test:${port}/to/${status}/${encodeURIComponent(target)}`,
    });
    await expect(evaluate("http.get(args['u'])", to(302, `http://evil.test:${port}/`))).rejects.toThrow(
      "SandboxError: host evil.test is not in allowed_domains",
    );
    seen.length = 0;
    expect(
      await evaluate(
        "http.get(args['u'], {'Authorization': 'x', 'Cookie': 'c', 'X-Key': 'k'})['status']",
        to(302, `http://other.test:${port}/`),
      ),
    ).toBe(201);
    expect(seen[1]?.headers).not.toHaveProperty("authorization");
    expect(seen[1]?.headers).not.toHaveProperty("cookie");
    expect(seen[1]?.headers).not.toHaveProperty("x-key");
    seen.length = 0;
    await evaluate("http.post(args['u'], 'body')", to(303, "/a"));
    await evaluate("http.post(args['u'], 'body')", to(307, "/a"));
    expect(seen.map(({ method, body }) => `${method} ${body}`)).toEqual([
      "POST body",
      "GET ",
      "POST body",
      "POST body",
    ]);
    await expect(evaluate("http.post(args['u'], 'body')", to(307, `http://other.test:${port}/`))).rejects.toThrow(
      /redirects a request with a body to another host/,
    );
  });

  test("reaches no private address that no entry spells out", async () => {
    const { port, resolve } = await server();
    const open = createScriptRig({}, createPublicWeb({ resolve }));
    await expect(open.evaluate("http.get(args['u'])", { u: `http://box.test:${port}/` })).rejects.toThrow(
      /not a public/,
    );
    const star = createScriptRig({}, createPublicWeb({ resolve, domains: () => createDomainList([["*"]]) }));
    await expect(star.evaluate("http.get(args['u'])", { u: `http://127.0.0.1:${port}/` })).rejects.toThrow(
      /not a public/,
    );
    const named = createScriptRig({}, createPublicWeb({ domains: () => createDomainList([["127.0.0.1"]]) }));
    expect(await named.evaluate("http.get(args['u'])['status']", { u: `http://127.0.0.1:${port}/` })).toBe(201);
    // Whoever owns a name on the list decides where it leads: the name alone opens no private network.
    const led = createScriptRig({}, createPublicWeb({ resolve, domains: () => createDomainList([["box.test"]]) }));
    await expect(led.evaluate("http.get(args['u'])", { u: `http://box.test:${port}/` })).rejects.toThrow(
      /box\.test is at 127\.0\.0\.1, which is not a public/,
    );
  });
});
