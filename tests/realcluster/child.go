package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// A child is one of the processes of the control plane: this binary again, with the arguments of the real command.
type child struct {
	name string
	args []string
	env  []string
	// Where its output goes; a new start appends.
	logFile string

	mu      sync.Mutex
	command *exec.Cmd
	stdin   io.Closer
	ended   chan struct{}
	problem error
}

func (c *child) start() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.command != nil {
		return fmt.Errorf("%s runs already", c.name)
	}
	output, err := os.OpenFile(c.logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	command := exec.Command(self, append([]string{c.name}, c.args...)...)
	command.Env = append(os.Environ(), c.env...)
	command.Stdout, command.Stderr = output, output
	stdin, err := command.StdinPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	c.command, c.stdin, c.ended = command, stdin, ended
	go func() {
		err := command.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		c.problem = err
		if c.command == command {
			c.command = nil
		}
		close(ended)
	}()
	return nil
}

// stop ends the process and waits for it: with SIGKILL at once when kill is set, else with SIGTERM and some patience.
func (c *child) stop(kill bool) error {
	c.mu.Lock()
	command, ended, stdin := c.command, c.ended, c.stdin
	c.mu.Unlock()
	if command == nil {
		return nil
	}
	signal := syscall.SIGTERM
	if kill {
		signal = syscall.SIGKILL
	}
	if err := command.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		_ = command.Process.Kill()
		<-ended
	}
	_ = stdin.Close()
	return nil
}

// pid is 0 while it does not run.
func (c *child) pid() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.command == nil {
		return 0
	}
	return c.command.Process.Pid
}

// gone tells whether it ended, and how.
func (c *child) gone() (bool, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.command == nil && c.ended != nil, c.problem
}

// signal sends SIGSTOP or SIGCONT: a process that hangs is not one that has ended.
func (c *child) signal(signal syscall.Signal) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.command == nil {
		return fmt.Errorf("%s does not run", c.name)
	}
	return c.command.Process.Signal(signal)
}
