package kubelet

import (
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
)

// Prefix of all annotations that tell how a pod ends.
const annotationPrefix = "sim.cronjob-monitor.io/"

type outcomeKind string

const (
	outcomeExit          outcomeKind = "exit"
	outcomeOOM           outcomeKind = "oom"
	outcomeImagePull     outcomeKind = "imagepull"
	outcomeConfigError   outcomeKind = "configerror"
	outcomeStartError    outcomeKind = "starterror"
	outcomeHang          outcomeKind = "hang"
	outcomeEvicted       outcomeKind = "evicted"
	outcomeUnschedulable outcomeKind = "unschedulable"
	outcomeFailFirst     outcomeKind = "fail-first"
)

// An outcome says how one container ends.
type outcome struct {
	kind outcomeKind
	// Of exit and fail-first.
	exitCode int32
	// fail-first: so many attempts of the Job fail before one succeeds.
	failures int
}

// A part is what one container plays.
type part struct {
	outcome    outcome
	lasts      time.Duration
	log        []byte
	ignoreTerm bool
	// imagepull: what the container runtime says; empty: that there is no such image.
	pullError string
	// Why the annotations cannot be played; the container then never starts and says so.
	problem string
}

// partOf reads what a container plays. An annotation with the suffix `.<container>` wins over the plain one; the plain one
// is for the first regular container, the others end well at the same time. Init containers without an own annotation end
// well at once, and sidecars run until the regular containers are done.
func partOf(pod *v1.Pod, container string) part {
	first := len(pod.Spec.Containers) > 0 && pod.Spec.Containers[0].Name == container
	isInit := false
	for i := range pod.Spec.InitContainers {
		isInit = isInit || pod.Spec.InitContainers[i].Name == container
	}
	look := func(name string, plain bool) (string, bool) {
		if text, ok := pod.Annotations[annotationPrefix+name+"."+container]; ok {
			return text, true
		}
		if !plain {
			return "", false
		}
		text, ok := pod.Annotations[annotationPrefix+name]
		return text, ok
	}

	p := part{outcome: outcome{kind: outcomeExit}, lasts: time.Second}
	if isInit {
		p.lasts = 0
	}
	if text, ok := look("outcome", first); ok {
		parsed, err := parseOutcome(text)
		if err != nil {
			p.problem = err.Error()
		}
		p.outcome = parsed
	}
	if index, ok := pod.Annotations["batch.kubernetes.io/job-completion-index"]; ok && first {
		if text, ok := pod.Annotations[annotationPrefix+"outcome-of-index."+index]; ok {
			parsed, err := parseOutcome(text)
			if err != nil {
				p.problem = err.Error()
			}
			p.outcome = parsed
		}
	}
	if text, ok := look("seconds", !isInit); ok {
		seconds, err := strconv.ParseFloat(text, 64)
		if err != nil || seconds < 0 {
			p.problem = fmt.Sprintf("%sseconds: %q is no number of seconds", annotationPrefix, text)
		}
		p.lasts = time.Duration(seconds * float64(time.Second))
	}
	if text, ok := look("ignore-term", first); ok {
		p.ignoreTerm = text == "true"
	}
	if text, ok := look("pull-error", first); ok {
		p.pullError = text
	}
	p.log = logOf(look, first, &p.problem)
	return p
}

// logOf reads the log text; nil when the annotations give none.
func logOf(look func(string, bool) (string, bool), first bool, problem *string) []byte {
	var log []byte
	if text, ok := look("log", first); ok {
		log = []byte(text)
	}
	if text, ok := look("log-base64", first); ok {
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			*problem = annotationPrefix + "log-base64: " + err.Error()
		}
		log = bytes
	}
	if text, ok := look("log-repeat", first); ok {
		times, err := strconv.Atoi(text)
		if err != nil || times < 0 || times*len(log) > 64<<20 {
			*problem = fmt.Sprintf("%slog-repeat: %q is no number, or more than 64 MiB", annotationPrefix, text)
			times = 1
		}
		log = []byte(strings.Repeat(string(log), times))
	}
	return log
}

// parseOutcome reads the value of an outcome annotation.
func parseOutcome(text string) (outcome, error) {
	name, argument, hasArgument := strings.Cut(strings.TrimSpace(text), ":")
	switch {
	case name == "success" && !hasArgument:
		return outcome{kind: outcomeExit}, nil
	case name == "exit" && hasArgument:
		code, err := strconv.Atoi(argument)
		if err != nil || code < 0 || code > 255 {
			return outcome{}, fmt.Errorf("%soutcome: %q has no exit code from 0 to 255", annotationPrefix, text)
		}
		return outcome{kind: outcomeExit, exitCode: int32(code)}, nil
	case name == "fail-first" && hasArgument:
		count, err := strconv.Atoi(argument)
		if err != nil || count < 0 {
			return outcome{}, fmt.Errorf("%soutcome: %q has no number of failures", annotationPrefix, text)
		}
		return outcome{kind: outcomeFailFirst, exitCode: 1, failures: count}, nil
	case hasArgument:
		return outcome{}, fmt.Errorf("%soutcome: %q is unknown", annotationPrefix, text)
	}
	switch kind := outcomeKind(name); kind {
	case outcomeOOM, outcomeImagePull, outcomeConfigError, outcomeStartError, outcomeHang, outcomeEvicted, outcomeUnschedulable:
		return outcome{kind: kind}, nil
	}
	return outcome{}, fmt.Errorf("%soutcome: %q is unknown", annotationPrefix, text)
}
