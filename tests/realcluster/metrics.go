package main

import (
	"fmt"
	"io"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
)

// checkMetrics says of the metrics in r what `promtool check metrics` says of them, one problem a line.
func checkMetrics(r io.Reader) error {
	problems, err := promlint.New(r).Lint()
	if err != nil {
		return err
	}
	for _, problem := range problems {
		fmt.Println(problem.Metric, problem.Text)
	}
	return nil
}
