package kubelet

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	clientscheme "k8s.io/client-go/kubernetes/scheme"

	"cronjob-monitor.io/realcluster/certificates"
)

var scheme = clientscheme.Scheme

// serveLogs answers GET /containerLogs/{namespace}/{pod}/{container}, the one path of a kubelet that the API server forwards
// pods/log to.
func (k *Kubelet) serveLogs(ctx context.Context) error {
	authority, err := certificates.NewAuthority("sim-kubelet")
	if err != nil {
		return err
	}
	pair, err := authority.Serving("sim-kubelet")
	if err != nil {
		return err
	}
	routes := http.NewServeMux()
	routes.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", k.answerLog)
	server := &http.Server{Handler: routes, ErrorLog: log.New(io.Discard, "", 0)}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	go func() {
		err := server.Serve(tls.NewListener(k.listener, &tls.Config{Certificates: []tls.Certificate{pair}}))
		if err != nil && !errors.Is(err, http.ErrServerClosed) {
			k.logf("log server: %v", err)
		}
	}()
	return nil
}

func (k *Kubelet) answerLog(w http.ResponseWriter, request *http.Request) {
	query := request.URL.Query()
	name := request.PathValue("container")
	pod, err := k.pods.Pods(request.PathValue("namespace")).Get(request.PathValue("pod"))
	if err != nil {
		refuse(w, http.StatusNotFound, fmt.Sprintf("pod %q does not exist", request.PathValue("pod")))
		return
	}
	status := findStatus(pod, name)
	if status == nil {
		refuse(w, http.StatusBadRequest, fmt.Sprintf("container %q not found in pod %q", name, pod.Name))
		return
	}
	instance, problem := instanceOf(pod, status, query.Get("previous") == "true")
	if problem != "" {
		refuse(w, http.StatusBadRequest, problem)
		return
	}
	lines := instance.lines()
	if since, ok := sinceOf(query.Get("sinceSeconds"), query.Get("sinceTime")); ok {
		lines = after(lines, since)
	}
	if tail, err := strconv.Atoi(query.Get("tailLines")); err == nil && tail < len(lines) {
		lines = lines[len(lines)-tail:]
	}
	text := join(lines, query.Get("timestamps") == "true")
	if limit, err := strconv.Atoi(query.Get("limitBytes")); err == nil && limit < len(text) {
		text = text[:limit]
	}
	w.Header().Set("Content-Type", "text/plain")
	_, _ = w.Write(text)
	if query.Get("follow") == "true" {
		http.NewResponseController(w).Flush()
		k.waitForEnd(request.Context(), pod, name)
	}
}

// refuse answers as a kubelet does: the API server puts the text as it is into its own answer.
func refuse(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text)
}

// waitForEnd returns when the container no longer runs, or nobody reads on.
func (k *Kubelet) waitForEnd(ctx context.Context, pod *v1.Pod, container string) {
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	for {
		now, err := k.pods.Pods(pod.Namespace).Get(pod.Name)
		if err != nil || now.UID != pod.UID {
			return
		}
		if status := findStatus(now, container); status == nil || status.State.Running == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

func findStatus(pod *v1.Pod, container string) *v1.ContainerStatus {
	for _, statuses := range [][]v1.ContainerStatus{pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses} {
		for i := range statuses {
			if statuses[i].Name == container {
				return &statuses[i]
			}
		}
	}
	return nil
}

// An instance is one life of a container: restarts have logs of their own.
type instance struct {
	pod       *v1.Pod
	container string
	attempt   int32
	startedAt time.Time
}

func instanceOf(pod *v1.Pod, status *v1.ContainerStatus, previous bool) (instance, string) {
	made := instance{pod: pod, container: status.Name, attempt: status.RestartCount + 1}
	waiting := status.State.Waiting
	last := status.LastTerminationState.Terminated
	switch {
	case previous && last == nil:
		return made, fmt.Sprintf("previous terminated container %q in pod %q not found", status.Name, pod.Name)
	case previous, waiting != nil && last != nil:
		if previous && waiting == nil {
			made.attempt = status.RestartCount
		}
		made.startedAt = last.StartedAt.Time
	case waiting != nil && (waiting.Reason == "ErrImagePull" || waiting.Reason == "ImagePullBackOff"):
		return made, fmt.Sprintf("container %q in pod %q is waiting to start: trying and failing to pull image", status.Name, pod.Name)
	case waiting != nil:
		return made, fmt.Sprintf("container %q in pod %q is waiting to start: %s", status.Name, pod.Name, waiting.Reason)
	case status.State.Running != nil:
		made.startedAt = status.State.Running.StartedAt.Time
	case status.State.Terminated != nil:
		made.startedAt = status.State.Terminated.StartedAt.Time
	}
	return made, ""
}

type line struct {
	at   time.Time
	text []byte
}

// lines gives the log of one life; each line a millisecond after the one before. `{attempt}` in an annotation's text is the
// number of the life, from 1.
func (i instance) lines() []line {
	text := partOf(i.pod, i.container).log
	if text == nil {
		text = []byte(fmt.Sprintf("%s of %s, attempt {attempt}\n", i.container, i.pod.Name))
	}
	text = bytes.ReplaceAll(text, []byte("{attempt}"), []byte(strconv.Itoa(int(i.attempt))))
	var lines []line
	for n, part := range bytes.SplitAfter(text, []byte("\n")) {
		if len(part) > 0 {
			lines = append(lines, line{at: i.startedAt.Add(time.Duration(n) * time.Millisecond), text: part})
		}
	}
	return lines
}

func sinceOf(seconds, instant string) (time.Time, bool) {
	if n, err := strconv.Atoi(seconds); err == nil {
		return time.Now().Add(-time.Duration(n) * time.Second), true
	}
	at, err := time.Parse(time.RFC3339, instant)
	return at, err == nil
}

func after(lines []line, since time.Time) []line {
	for i, line := range lines {
		if !line.at.Before(since) {
			return lines[i:]
		}
	}
	return nil
}

func join(lines []line, timestamps bool) []byte {
	var text bytes.Buffer
	for _, line := range lines {
		if timestamps {
			text.WriteString(line.at.UTC().Format("2006-01-02T15:04:05.000000000Z07:00"))
			text.WriteByte(' ')
		}
		text.Write(line.text)
	}
	return text.Bytes()
}
