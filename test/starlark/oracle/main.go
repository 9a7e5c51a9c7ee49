// The oracle runs programs under starlark-go: one JSON string per line in, one JSON object with output and error per line out.
package main

import (
	"bufio"
	"encoding/json"
	"os"
	"strings"

	starjson "go.starlark.net/lib/json"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

func catch(thread *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	if _, err := starlark.Call(thread, args[0], nil, nil); err != nil {
		return starlark.String(err.Error()), nil
	}
	return starlark.None, nil
}

func freeze(_ *starlark.Thread, _ *starlark.Builtin, args starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	args[0].Freeze()
	return starlark.None, nil
}

func run(source string) (answer map[string]string) {
	var out strings.Builder
	// A few calls without arguments panic inside starlark-go.
	defer func() {
		if r := recover(); r != nil {
			answer = map[string]string{"out": "", "error": "panic"}
		}
	}()
	thread := &starlark.Thread{Print: func(_ *starlark.Thread, msg string) { out.WriteString(msg + "\n") }}
	thread.SetMaxExecutionSteps(5000000)
	_, err := starlark.ExecFileOptions(&syntax.FileOptions{Set: true}, thread, "program.star", source, starlark.StringDict{
		"catch":  starlark.NewBuiltin("catch", catch),
		"freeze": starlark.NewBuiltin("freeze", freeze),
		"json":   starjson.Module,
		"struct": starlark.NewBuiltin("struct", starlarkstruct.Make),
	})
	message := ""
	if err != nil {
		message = err.Error()
		if e, ok := err.(*starlark.EvalError); ok {
			message = e.Backtrace()
		}
	}
	return map[string]string{"out": out.String(), "error": message}
}

func main() {
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<26)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	answers := json.NewEncoder(out)
	for in.Scan() {
		var source string
		if err := json.Unmarshal(in.Bytes(), &source); err != nil {
			panic(err)
		}
		if err := answers.Encode(run(source)); err != nil {
			panic(err)
		}
	}
}
