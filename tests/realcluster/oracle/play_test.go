// Plays scenarios on the real CronJob, Job and TTL controllers in virtual time: a year of a cluster takes seconds.
//
// Reads scenarios from standard input, one line of JSON each, and answers on standard output: a line for each change of a CronJob or
// Job as a watch would tell it, a line for each slot with what became of it, and a line that ends the scenario. It is a test program
// because Go gives its virtual time to tests alone.
package oracle

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/klog/v2"
)

func TestPlay(t *testing.T) {
	quiet()
	time.Local = time.UTC
	out := bufio.NewWriterSize(os.Stdout, 1<<20)
	answer := json.NewEncoder(out)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return
		}
		var scenario Scenario
		if err := json.Unmarshal(line, &scenario); err != nil {
			t.Fatalf("a scenario is no JSON: %v", err)
		}
		synctest.Test(t, func(t *testing.T) { play(t, scenario, answer) })
		if err := answer.Encode(map[string]any{"end": scenario.Seed}); err != nil {
			t.Fatal(err)
		}
		if err := out.Flush(); err != nil {
			t.Fatal(err)
		}
	}
}

func play(t *testing.T, scenario Scenario, answer *json.Encoder) {
	ctx, cancel := context.WithCancel(context.Background())
	var telling sync.Mutex
	record := newRecord()
	c := newCluster(ctx, scenario.Runs, func(told change) {
		telling.Lock()
		defer telling.Unlock()
		record.take(told)
		if err := answer.Encode(told); err != nil {
			t.Error(err)
		}
	})
	time.Sleep(time.Until(scenario.From))
	if err := c.up(); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	for _, step := range scenario.Steps {
		time.Sleep(time.Until(step.At))
		synctest.Wait()
		if err := c.take(step); err != nil {
			t.Errorf("seed %d, %s at %s: %v", scenario.Seed, step.Do, step.At, err)
		}
		synctest.Wait()
	}
	time.Sleep(time.Until(scenario.Until))
	synctest.Wait()
	c.down()
	cancel()
	synctest.Wait()
	for _, slot := range record.slots(scenario.Until) {
		if err := answer.Encode(map[string]any{"slot": slot}); err != nil {
			t.Error(err)
		}
	}
}

func quiet() {
	flags := flag.NewFlagSet("klog", flag.ContinueOnError)
	klog.InitFlags(flags)
	_ = flags.Set("logtostderr", "false")
	_ = flags.Set("alsologtostderr", "false")
	_ = flags.Set("stderrthreshold", "FATAL")
	klog.SetOutput(io.Discard)
	// The handler of errors waits by the real clock, which is far from the virtual one.
	utilruntime.ErrorHandlers = nil
}
